"""The kind `rack`, for Phaseline."""
