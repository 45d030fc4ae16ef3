package networkapi

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// gardenShape lists the places that customers reach before they sign in at a hotspot, and in the walled garden; nil =
// none.
type gardenShape struct {
	Domains   []string `json:"domains,omitempty" doc:"example.com or *.example.com"`
	Addresses []string `json:"addresses,omitempty" doc:"IPv4 addresses or subnets"`
}

// garden is the walled garden in the form of commands.
func (g *gardenShape) garden() events.WalledGarden {
	if g == nil {
		return events.WalledGarden{}
	}
	return commands.NormalWalledGarden(events.WalledGarden{Domains: g.Domains, Addresses: g.Addresses})
}

// serviceRequest is the body of POST /nas/devices/:id/services (docs/rules/network.md#service-record).
type serviceRequest struct {
	Type            string       `json:"type" enum:"pppoe,hotspot,cpe-management"`
	ParentInterface string       `json:"parentInterface"`
	VlanID          *int         `json:"vlanId,omitempty"`
	Subnet          string       `json:"subnet,omitempty" doc:"allocated when absent"`
	Gateway         string       `json:"gateway,omitempty"`
	PoolStart       string       `json:"poolStart,omitempty"`
	PoolEnd         string       `json:"poolEnd,omitempty"`
	WalledGarden    *gardenShape `json:"walledGarden,omitempty" doc:"not of cpe-management"`
}

// input is the body in the form of the use case.
func (in serviceRequest) input(device id.Device) networkcases.CreateInput {
	return networkcases.CreateInput{
		Device: device, Type: events.ServiceType(in.Type), ParentInterface: in.ParentInterface, VlanID: in.VlanID,
		Addressing: events.ServiceAddressing{
			Subnet: in.Subnet, Gateway: in.Gateway, PoolStart: in.PoolStart, PoolEnd: in.PoolEnd,
		},
		WalledGarden: in.WalledGarden.garden(),
	}
}

// serviceChange is the body of PATCH: an absent field stays as it is.
type serviceChange struct {
	Type            *string      `json:"type,omitempty" enum:"pppoe,hotspot,cpe-management"`
	ParentInterface *string      `json:"parentInterface,omitempty"`
	VlanID          *int         `json:"vlanId,omitempty" doc:"0 or null = none"`
	Subnet          *string      `json:"subnet,omitempty"`
	Gateway         *string      `json:"gateway,omitempty"`
	PoolStart       *string      `json:"poolStart,omitempty"`
	PoolEnd         *string      `json:"poolEnd,omitempty"`
	WalledGarden    *gardenShape `json:"walledGarden,omitempty" doc:"replaces the present one, whole"`
}

// emptied removes what is given as null. Addresses are those that the platform gives then; a subnet that it has given
// stays. What a service cannot be without becomes empty, which the use case refuses.
func (in serviceChange) emptied(nulls map[string]bool) serviceChange {
	in.Type = httpapi.Emptied(in.Type, nulls["type"])
	in.ParentInterface = httpapi.Emptied(in.ParentInterface, nulls["parentInterface"])
	in.VlanID, in.Subnet = httpapi.Emptied(in.VlanID, nulls["vlanId"]), httpapi.Emptied(in.Subnet, nulls["subnet"])
	in.Gateway = httpapi.Emptied(in.Gateway, nulls["gateway"])
	in.PoolStart = httpapi.Emptied(in.PoolStart, nulls["poolStart"])
	in.PoolEnd = httpapi.Emptied(in.PoolEnd, nulls["poolEnd"])
	in.WalledGarden = httpapi.Emptied(in.WalledGarden, nulls["walledGarden"])
	return in
}

// input is the body in the form of the use case; confirmed comes from the query.
func (in serviceChange) input(confirmed bool) networkcases.ServiceChange {
	out := networkcases.ServiceChange{
		Type: (*events.ServiceType)(in.Type), ParentInterface: in.ParentInterface, VlanID: in.VlanID,
		Subnet: in.Subnet, Gateway: in.Gateway, PoolStart: in.PoolStart, PoolEnd: in.PoolEnd, Confirmed: confirmed,
	}
	if in.WalledGarden != nil {
		garden := in.WalledGarden.garden()
		out.WalledGarden = &garden
	}
	return out
}

// serviceResponse is a service as the API shows it (docs/rules/network.md#service-record).
type serviceResponse struct {
	ID              id.Service         `json:"id"`
	DeviceID        id.Device          `json:"deviceId"`
	Type            string             `json:"type" enum:"pppoe,hotspot,cpe-management"`
	ParentInterface string             `json:"parentInterface"`
	VlanID          *int               `json:"vlanId"`
	Subnet          string             `json:"subnet"`
	Gateway         string             `json:"gateway"`
	PoolStart       string             `json:"poolStart"`
	PoolEnd         string             `json:"poolEnd"`
	WalledGarden    gardenResponse     `json:"walledGarden"`
	State           string             `json:"state" enum:"pending,active,failed,degraded"`
	Slug            string             `json:"slug" doc:"part of every name on the router"`
	Removing        bool               `json:"removing"`
	Working         bool               `json:"working" doc:"work on the router is under way"`
	ActiveSessions  int                `json:"activeSessions" doc:"of customers, by what the router reported"`
	LastError       *serviceErrorShape `json:"lastError"`
	Drift           *driftShape        `json:"drift"`
	FormerSubnets   []formerShape      `json:"formerSubnets" doc:"left after a change, still served beside subnet"`
	AppliedAt       *time.Time         `json:"appliedAt"`
	CreatedAt       time.Time          `json:"createdAt"`
}

// formerShape is a subnet that a service has no more and whose devices are still served.
type formerShape struct {
	Subnet  string    `json:"subnet"`
	Gateway string    `json:"gateway" doc:"lives beside the new one"`
	Until   time.Time `json:"until" doc:"at least; then it goes as soon as no device has a lease in it"`
}

// gardenResponse is a walled garden; neither list is null.
type gardenResponse struct {
	Domains   []string `json:"domains"`
	Addresses []string `json:"addresses"`
}

// serviceErrorShape is the newest error, in the router's words.
type serviceErrorShape struct {
	At        time.Time `json:"at"`
	Operation string    `json:"operation"`
	Path      string    `json:"path"`
	Message   string    `json:"message"`
}

// driftShape is the present difference, as the last check found it.
type driftShape struct {
	FirstSeenAt time.Time       `json:"firstSeenAt"`
	Hash        string          `json:"hash"`
	Resources   []resourceDrift `json:"resources"`
}

// resourceDrift is one resource on a router that differs from what it should be.
type resourceDrift struct {
	Path     string            `json:"path"`
	Kind     string            `json:"kind" enum:"missing,extra,changed,orphan"`
	Name     string            `json:"name"`
	Expected map[string]string `json:"expected" null:"true" doc:"null: it should not be there"`
	Actual   map[string]string `json:"actual" null:"true" doc:"null: it is not there"`
}

// showDrift gives an empty list, not null, when nothing differs.
func showDrift(list []events.DriftedResource) []resourceDrift {
	out := make([]resourceDrift, 0, len(list))
	for _, r := range list {
		out = append(out, resourceDrift(r))
	}
	return out
}

// servedService is a service with the number of sessions that are open on it.
type servedService struct {
	networkviews.ServiceRow
	sessions int
}

// showService writes a VLAN of 0 as null. A service that failed is not working, though its work is still open.
func showService(r servedService) serviceResponse {
	out := serviceResponse{
		ID: r.ID, DeviceID: r.DeviceID, Type: string(r.Binding.Type), ParentInterface: r.Binding.ParentInterface,
		Subnet: r.Addressing.Subnet, Gateway: r.Addressing.Gateway, PoolStart: r.Addressing.PoolStart,
		PoolEnd: r.Addressing.PoolEnd, State: r.State, Slug: slugOf(r.ID),
		WalledGarden: gardenResponse{
			Domains:   append([]string{}, r.WalledGarden.Domains...),
			Addresses: append([]string{}, r.WalledGarden.Addresses...),
		},
		FormerSubnets: []formerShape{},
		Removing:      r.Open == events.PhaseRemoval, Working: r.Open != "" && r.State != networkviews.StateFailed,
		ActiveSessions: r.sessions, AppliedAt: r.AppliedAt, CreatedAt: r.CreatedAt,
	}
	if r.Binding.VlanID != 0 {
		out.VlanID = &r.Binding.VlanID
	}
	for _, f := range r.Former {
		out.FormerSubnets = append(out.FormerSubnets, formerShape(f))
	}
	if e := r.LastError; e != nil {
		out.LastError = &serviceErrorShape{At: e.At, Operation: e.Operation, Path: e.Path, Message: e.Message}
	}
	if d := r.Drift; d != nil {
		out.Drift = &driftShape{FirstSeenAt: d.FirstSeenAt, Hash: d.Hash, Resources: showDrift(d.Resources)}
	}
	return out
}

// slugOf is the first 8 hex digits of a service's id, which the names of its resources on the router contain.
func slugOf(service id.Service) string { return service.String()[:8] }

// diffResponse lists how a router differs from what it should be (docs/rules/network.md#service-endpoints).
type diffResponse struct {
	InSync    bool            `json:"inSync"`
	Resources []resourceDrift `json:"resources"`
	Hash      *string         `json:"hash" doc:"the same for the same difference; null when in sync"`
}

// showDiff writes no hash when nothing differs.
func showDiff(d networkviews.LiveDiff) diffResponse {
	out := diffResponse{InSync: len(d.Resources) == 0, Resources: showDrift(d.Resources)}
	if !out.InSync {
		out.Hash = &d.Hash
	}
	return out
}
