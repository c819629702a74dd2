"""What people and programs meet of an installation. Each asks the kernel; none knows a product.

Belongs here: `client` (the Python client), `cli` (the command) with `console` (its program) and `demo` and
`late_modules`, `http` (the API) with `page` (the files of the page), `cells` (several installations read as one),
`follow` (under a name), `overview` (what is bad), `doctor` (what is wrong with an installation), `telemetry` (metrics
and probes), `testing` (the test kit for tables); `generate`, `sync_stub` and `accounts_page` (generated pages and
modules). Does not: what only one product needs (`engine.products`), which adds to these by names in
`machines.built_in`.
"""
