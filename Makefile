# Thin names for what dev.py does.
.PHONY: demo test check prove bench endure generate
demo test check prove bench endure generate:
	python3 dev.py $@
