"""The nouns everything else is made of: actions, tools, calls, requests, answers, results."""
