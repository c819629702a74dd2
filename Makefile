# Thin names for what dev.py does.
.PHONY: demo test check prove bench generate
demo test check prove bench generate:
	python3 dev.py $@
