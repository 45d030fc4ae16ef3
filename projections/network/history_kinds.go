package networkviews

// HistoryKinds are all kinds of a history's rows. They are part of the API and never change their meaning.
func HistoryKinds() []string {
	return []string{
		"requested", "changed", "recreation_confirmed", "torn_down", "reconcile_requested", "repaired",
		"applied", "failed", "drift_detected", "drift_cleared", "removal_requested", "removed", "subnet_left",
		"subnets_kept", "subnets_retired", "written", "write_refused", "reconcile_finished", "setup_applied",
		"setup_drift_detected", "setup_drift_cleared", "drift_unchecked", "drift_checked", "unreachable",
		"recovered", "bootstrap_reported", "secrets_rotated", "credentials_replaced", "bootstrap_shown",
		"customers_read", "reboot_requested", "reboot_confirmed", "reboot_failed",
	}
}
