"""The judge: reads the topics to their end and says from them alone whether a record went wrong."""
