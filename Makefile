# Thin names for what dev.py does.
.PHONY: demo test pure check coverage mutation prove bench endure generate
demo test pure check coverage mutation prove bench endure generate:
	python3 dev.py $@
