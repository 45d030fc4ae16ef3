package cpeapi

import (
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// pendingCpe is a CPE that waits to be claimed, as every administrator sees it: nothing of who had it before.
type pendingCpe struct {
	ID           id.CPE    `json:"id"`
	SerialNumber string    `json:"serialNumber"`
	OUI          string    `json:"oui"`
	ProductClass string    `json:"productClass"`
	Manufacturer *string   `json:"manufacturer" doc:"null: not known yet"`
	Model        *string   `json:"model" doc:"null: not known yet"`
	FirstSeen    time.Time `json:"firstSeen"`
	LastSeen     time.Time `json:"lastSeen" doc:"two weeks later it is off the list"`
	Refused      *string   `json:"refused" enum:"cpe_serial_unusable" doc:"why it cannot be claimed; null: it can"`
	TakesONU     bool      `json:"takesOnu" doc:"an ONU can be set up with the claim: there are optical terminals"`
}

// showWaiting shows a CPE of the list of those that wait; the row has what it has told of itself, if anything.
func (a API) showWaiting(r cpeviews.PendingRow, row cpeviews.CPERow) pendingCpe {
	return pendingCpe{
		ID: r.ID, SerialNumber: r.SerialNumber, OUI: r.OUI, ProductClass: r.ProductClass,
		Manufacturer: null.Of(row.Manufacturer), Model: null.Of(row.Model), FirstSeen: r.FirstSeen, LastSeen: r.At,
		Refused: null.Of(r.Refused), TakesONU: a.Terminals,
	}
}

// showPending leaves out what is not for everybody.
func (a API) showPending(r cpeviews.CPERow) pendingCpe {
	return pendingCpe{
		ID: r.ID, SerialNumber: r.SerialNumber, OUI: r.OUI, ProductClass: r.ProductClass,
		Manufacturer: null.Of(r.Manufacturer), Model: null.Of(r.Model), FirstSeen: r.FirstSeen, LastSeen: r.FirstSeen,
		TakesONU: a.Terminals,
	}
}

// cpeResponse is a CPE of an organization.
type cpeResponse struct {
	ID              id.CPE                 `json:"id"`
	SerialNumber    string                 `json:"serialNumber"`
	OUI             string                 `json:"oui"`
	ProductClass    string                 `json:"productClass"`
	Manufacturer    *string                `json:"manufacturer" doc:"null: not known yet"`
	Model           *string                `json:"model" doc:"null: not known yet"`
	FirmwareVersion *string                `json:"firmwareVersion" doc:"null: not known yet"`
	OrgID           *id.Organization       `json:"orgId" doc:"null: released meanwhile"`
	SubscriberID    *id.Subscriber         `json:"subscriberId" doc:"null: no customer has it"`
	Subscriber      *httpapi.SubscriberRef `json:"subscriber" doc:"null: no customer has it"`
	SubscriptionID  *id.Subscription       `json:"subscriptionId" doc:"the login; null: there is none"`
	Label           *string                `json:"label"`
	Location        *string                `json:"location"`
	Online          bool                   `json:"online" doc:"it has called in the last ten minutes"`
	Stale           bool                   `json:"stale" doc:"it has been offline for more than an hour"`
	LastInform      *time.Time             `json:"lastInform" doc:"null: it has not called since it is known"`
	FirstSeen       time.Time              `json:"firstSeen"`
	ClaimedAt       *time.Time             `json:"claimedAt"`
	Tags            []string               `json:"tags" doc:"at the CPE server"`
	Health          *cpeHealth             `json:"health" doc:"null: it has said nothing since the claim"`
	SignIn          *cpeSignIn             `json:"signIn" doc:"at the CPE server; null: devices get no passwords"`
}

// cpeSignIn says whether a CPE must show its own password to be let in.
type cpeSignIn struct {
	Required  bool       `json:"required" doc:"it has shown it once"`
	RefusedAt *time.Time `json:"refusedAt" doc:"the last time in a day that somebody came as it without; null: nobody"`
}

// cpeDevice is a CPE with its optical end.
type cpeDevice struct {
	cpeResponse
	TakesONU bool    `json:"takesOnu" doc:"an ONU can be set up: there are optical terminals"`
	ONU      *cpeOnu `json:"onu" doc:"that was asked for last; null: none was"`
}

// cpeOnu says where an ONU was asked for.
type cpeOnu struct {
	OLT        string `json:"olt"`
	Port       string `json:"port"`
	Serial     string `json:"serial"`
	VLAN       int    `json:"vlan"`
	Registered bool   `json:"registered" doc:"the terminal has it"`
}

// cpeHealth is how a CPE was at its last inform. What it does not tell is null.
type cpeHealth struct {
	At            time.Time `json:"at"`
	UptimeSeconds *int64    `json:"uptimeSeconds"`
	MemoryTotal   *int64    `json:"memoryTotal" doc:"bytes"`
	MemoryFree    *int64    `json:"memoryFree" doc:"bytes"`
	CPUPercent    *int64    `json:"cpuPercent"`
	BytesSent     *int64    `json:"bytesSent" doc:"since it started, or since its counter began anew"`
	BytesReceived *int64    `json:"bytesReceived" doc:"the same"`
	WifiClients   *int64    `json:"wifiClients" doc:"of all its networks"`
}

// showHealth is nil for a CPE that has said nothing.
func showHealth(h *cpeviews.Health) *cpeHealth {
	if h == nil {
		return nil
	}
	return &cpeHealth{
		At: h.At, UptimeSeconds: h.UpTime, MemoryTotal: h.MemoryTotal, MemoryFree: h.MemoryFree, CPUPercent: h.CPU,
		BytesSent: h.BytesSent, BytesReceived: h.BytesReceived, WifiClients: h.WifiClients,
	}
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *cpeResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// showCpe writes null for what is not known.
func showCpe(r cpeviews.CPERow, in condition) cpeResponse {
	return cpeResponse{
		ID: r.ID, SerialNumber: r.SerialNumber, OUI: r.OUI, ProductClass: r.ProductClass,
		Manufacturer: null.Of(r.Manufacturer), Model: null.Of(r.Model), FirmwareVersion: null.Of(r.Firmware),
		OrgID: null.Of(r.OrgID), SubscriberID: null.Of(r.SubscriberID), SubscriptionID: null.Of(r.SubscriptionID),
		Label: r.Label, Location: r.Location, Online: in.online, Stale: in.stale, LastInform: in.last,
		FirstSeen: r.FirstSeen, ClaimedAt: r.ClaimedAt, Tags: r.Tags(),
		Health: showHealth(in.health), SignIn: in.signIn,
	}
}

// ownCpe is a CPE as its customer sees it.
type ownCpe struct {
	ID           id.CPE         `json:"id"`
	SubscriberID *id.Subscriber `json:"subscriberId"`
	SerialNumber string         `json:"serialNumber" doc:"as on the sticker"`
	Manufacturer *string        `json:"manufacturer" doc:"null: not known yet"`
	Model        *string        `json:"model" doc:"null: not known yet"`
	Online       bool           `json:"online" doc:"it has called in the last ten minutes"`
	LastInform   *time.Time     `json:"lastInform" doc:"null: it has not called since it is known"`
	// WifiChange is told to who has asked for it; a household before saw its own.
	WifiChange *ownWifiChange `json:"wifiChange" doc:"the caller's latest; null: the caller has asked for none"`
}

// ownWifiChange says how a change of the own Wi-Fi has gone, without the words of device and server.
type ownWifiChange struct {
	State   cpeOperationState `json:"state" doc:"expired: the device has not called in time"`
	At      time.Time         `json:"at" doc:"of the request"`
	EndedAt *time.Time        `json:"endedAt" doc:"null: it goes on"`
}

// ForCustomer implements httpapi.StaffSees: nothing in it is for staff alone.
func (*ownCpe) ForCustomer() {}

// showOwn leaves out what is for staff.
func showOwn(r cpeviews.CPERow, in condition, wifi map[id.CPE]cpeviews.OperationRow) ownCpe {
	out := ownCpe{
		ID: r.ID, SubscriberID: null.Of(r.SubscriberID), SerialNumber: r.SerialNumber,
		Manufacturer: null.Of(r.Manufacturer), Model: null.Of(r.Model), Online: in.online, LastInform: in.last,
	}
	if last, is := wifi[r.ID]; is {
		out.WifiChange = &ownWifiChange{
			State: cpeOperationState(last.State), At: last.AskedAt, EndedAt: last.EndedAt,
		}
	}
	return out
}
