"""The instances of an application: group membership, running versions, and the gate after a restart."""
