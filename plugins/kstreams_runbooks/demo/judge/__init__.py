"""The judge: reads the topics to their end and decides from them alone whether a record is wrong."""
