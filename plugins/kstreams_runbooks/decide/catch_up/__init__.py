"""What a catch-up from history does that live processing did not."""
