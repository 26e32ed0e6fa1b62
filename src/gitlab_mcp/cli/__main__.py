import sys

from gitlab_mcp.cli import main

sys.exit(main())
