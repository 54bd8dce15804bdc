"""What allows a write: approval, hold, valid plan."""
