"""Studies of chapter 7: which features emerge where the margin is as large as it can be."""
