"""What discovery found, and what an application is ready for."""
