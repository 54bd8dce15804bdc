"""Steps that stop, start and judge instances, and take a run back."""
