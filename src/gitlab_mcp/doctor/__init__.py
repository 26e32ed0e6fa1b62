"""Checks a set-up (URL, TLS, token, scopes, version, clock) and says how to mend what is wrong. Changes nothing."""

from gitlab_mcp.doctor.diagnosis import diagnose, report_on_unusable_settings
from gitlab_mcp.doctor.held_token import HeldToken, held_token
from gitlab_mcp.doctor.profile_checks import check_profiles
from gitlab_mcp.doctor.report import Check, Mark, Report

__all__ = [
    "Check",
    "HeldToken",
    "Mark",
    "Report",
    "check_profiles",
    "diagnose",
    "held_token",
    "report_on_unusable_settings",
]
