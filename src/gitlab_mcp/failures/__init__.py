"""What every failure becomes: codes, the Failure value, and its renderings. Imports nothing else of this package."""
