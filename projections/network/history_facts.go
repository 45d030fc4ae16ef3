package networkviews

import "github.com/lastmile-isp/lastmile/events"

// HistoryFacts make a row exact beside its kind: which, how many, with what result. A zero field is not in the row.
type HistoryFacts struct {
	Service    string `json:"service,omitempty"` // "pppoe", "hotspot" or "cpe-management"
	Interface  string `json:"interface,omitempty"`
	VLAN       int    `json:"vlan,omitempty"`
	Subnet     string `json:"subnet,omitempty"`
	Domains    int    `json:"domains,omitempty"`   // of the walled garden
	Addresses  int    `json:"addresses,omitempty"` // of the walled garden
	Sessions   int    `json:"sessions,omitempty"`  // that are affected
	Resources  int    `json:"resources,omitempty"` // that differ
	Operation  string `json:"operation,omitempty"` // "add", "set", "remove", "move", "read", "connect"
	Path       string `json:"path,omitempty"`      // menu of the router
	Name       string `json:"name,omitempty"`      // of the row in it
	Message    string `json:"message,omitempty"`   // of the router, or why it did not answer
	Run        string `json:"run,omitempty"`       // an events.ReconcileKind
	Outcome    string `json:"outcome,omitempty"`   // an events.ReconcileOutcome
	Writes     int    `json:"writes,omitempty"`
	Script     int    `json:"script,omitempty"` // version of the bootstrap script
	Credential string `json:"credential,omitempty"`
	Abandoned  bool   `json:"abandoned,omitempty"` // removed without reaching the router
}

// factsOf has the facts of an event; the zero value when its kind says all.
func factsOf(e events.Event) HistoryFacts {
	switch v := e.(type) {
	case events.ServiceRequested:
		return placed(v.Binding)
	case events.ServiceAddressingChanged:
		return HistoryFacts{Subnet: v.Addressing.Subnet}
	case events.ServiceWalledGardenChanged:
		return HistoryFacts{Domains: len(v.WalledGarden.Domains), Addresses: len(v.WalledGarden.Addresses)}
	case events.ServiceRecreationConfirmed:
		f := placed(v.To)
		f.Sessions = v.AffectedSessions
		return f
	case events.ServiceApplyFailed:
		return HistoryFacts{Operation: v.Operation, Path: v.Path, Message: v.Message}
	case events.ServiceDriftDetected:
		return HistoryFacts{Resources: len(v.Resources)}
	case events.ServiceRemovalRequested:
		return HistoryFacts{Sessions: v.AffectedSessions}
	case events.ServiceRemoved:
		return HistoryFacts{Abandoned: v.Abandoned}
	case events.ServiceSubnetLeft:
		return HistoryFacts{Subnet: v.Former.Subnet}
	case events.RouterWritten:
		return HistoryFacts{Operation: v.Step.Operation, Path: v.Step.Path, Name: v.Step.Name}
	case events.RouterWriteRefused:
		return HistoryFacts{Operation: v.Step.Operation, Path: v.Step.Path, Name: v.Step.Name, Message: v.Message}
	case events.ReconcileFinished:
		return HistoryFacts{
			Run: string(v.Kind), Outcome: string(v.Outcome), Writes: v.Writes, Message: v.Message,
		}
	case events.DeviceSetupDrifted:
		return HistoryFacts{Resources: len(v.Resources)}
	case events.DeviceDriftUnchecked:
		return HistoryFacts{Message: v.Error}
	case events.DeviceUnreachable:
		return HistoryFacts{Message: v.Error}
	case events.DeviceBootstrapReported:
		return HistoryFacts{Script: v.Version}
	case events.DeviceCredentialsReplaced:
		return HistoryFacts{Credential: string(v.Kind)}
	case events.DeviceRebootFailed:
		return HistoryFacts{Message: v.Message}
	}
	return HistoryFacts{}
}

// placed has the type and the place of a service.
func placed(b events.ServiceBinding) HistoryFacts {
	return HistoryFacts{Service: string(b.Type), Interface: b.ParentInterface, VLAN: b.VlanID}
}
