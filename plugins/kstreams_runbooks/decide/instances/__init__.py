"""The instances of an application: who is in the group, what runs, and the gate after a restart."""
