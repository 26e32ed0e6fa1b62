"""Checks a set-up (URL, TLS, token, scopes, version, clock) and says how to mend what is wrong. Changes nothing."""

from gitlab_mcp.doctor.diagnosis import diagnose, report_on_unusable_settings
from gitlab_mcp.doctor.report import Mark, Report

__all__ = ["Mark", "Report", "diagnose", "report_on_unusable_settings"]
