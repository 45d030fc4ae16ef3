package cpeapi

import (
	"context"
	"net/http"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Onus serves the optical ends of CPEs (docs/rules/cpe.md#optical-ends). All fields are required.
type Onus struct {
	Cases cpecases.Onus
	CPEs  cpeviews.CPEsQuery
	Rows  cpeviews.OperationsQuery
	// Read asks the terminal. Fails: olt_not_set_up, olt_unavailable, olt_unreachable, and with what the terminal says.
	Read func(ctx context.Context, onu cpeviews.OnuRow) (OpticalReading, error)
}

// OpticalReading is an ONU as its terminal sees it.
type OpticalReading struct {
	Port   string
	Online bool
	VLAN   int            // 0 = none
	Levels *OpticalLevels // nil while it is offline
}

// OpticalLevels are optical powers in dBm, and the length of the fibre in metres.
type OpticalLevels struct {
	Received      float64 // by the ONU
	Sent          float64 // by the ONU
	ReceivedAtOLT float64
	Distance      int
}

// Routes lists the endpoints.
func (a Onus) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: "/cpe/devices/:id/onu", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Request: cpeOnuRequest{}, Response: cpeWrite{}, Status: http.StatusAccepted,
			Summary: "Set up the ONU of a CPE at its terminal, or once more", Handle: a.setUp, Codes: onuCodes(),
		},
		{
			Method: http.MethodGet, Path: "/cpe/devices/:id/optical", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Response: cpeOptical{}, Handle: a.optical,
			Summary: "Read the optical levels of a CPE from its terminal",
			Codes:   []string{"onu_not_registered", "olt_not_set_up", "olt_unavailable", "olt_unreachable"},
		},
	}
}

// onuCodes lists the failures of a request for a set-up.
func onuCodes() []string {
	return []string{"onu_in_use", "onu_busy", "onu_elsewhere", "olt_not_set_up", "cpe_server_not_set_up"}
}

// cpeOnuRequest says where an ONU is, and what it serves.
type cpeOnuRequest struct {
	OLT    string `json:"olt" doc:"name of the terminal"`
	Port   string `json:"port" doc:"such as 0/1/3"`
	Serial string `json:"serial" doc:"such as HWTC1A2B3C4D"`
	VLAN   int    `json:"vlan" doc:"of the service, 1 to 4094"`
}

// place is the request in words of the log.
func (r cpeOnuRequest) place() events.CpeOnuPlace {
	return events.CpeOnuPlace{OLT: r.OLT, Port: r.Port, Serial: r.Serial, VLAN: r.VLAN}
}

// showOnu is nil for a CPE for which none was asked for.
func showOnu(r *cpeviews.OnuRow) *cpeOnu {
	if r == nil {
		return nil
	}
	return &cpeOnu{OLT: r.OLT, Port: r.Port, Serial: r.Serial, VLAN: r.VLAN, Registered: r.Registered}
}

// setUp answers with the operation.
func (a Onus) setUp(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[cpeOnuRequest](c)
	if err != nil {
		return err
	}
	operation, done, err := a.Cases.SetUp(ctx, c.Asked(), of, in.place())
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusAccepted, httpapi.One[id.CPEOperation, cpeviews.OperationRow, cpeWrite]{
		Model: cpeviews.OperationsName, Missing: commands.ErrNoCpeOperation, Read: a.Rows.Get, Show: showWrite,
	}, operation, done)
}

// cpeOptical is the optical end of a CPE as its terminal sees it now.
type cpeOptical struct {
	OLT      string     `json:"olt"`
	Port     string     `json:"port"`
	Serial   string     `json:"serial"`
	VLAN     *int       `json:"vlan" doc:"null: it has no service"`
	Online   bool       `json:"online"`
	Received *float64   `json:"rxDbm" doc:"by the ONU; null while it is offline, as all levels"`
	Sent     *float64   `json:"txDbm" doc:"by the ONU"`
	AtOLT    *float64   `json:"oltRxDbm" doc:"by the terminal"`
	Distance *int       `json:"distanceM" doc:"length of the fibre"`
	Quality  *cpeSignal `json:"quality" doc:"of what the ONU receives; null while it is offline"`
}

// cpeSignal judges an optical level.
type cpeSignal string

// Texts implements httpapi.Enumerated.
func (cpeSignal) Texts() []string { return []string{"good", "weak", "strong"} }

// Bounds of what an ONU receives, in dBm. Source: docs/facts/olt.md#levels.
const (
	weakest   = -27
	strongest = -8
)

// signalOf judges what an ONU receives.
func signalOf(dbm float64) cpeSignal {
	switch {
	case dbm < weakest:
		return "weak"
	case dbm > strongest:
		return "strong"
	}
	return "good"
}

// optical answers with what the terminal says at this moment.
func (a Onus) optical(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	row, err := a.CPEs.Get(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	if row == nil {
		return commands.ErrNoCpe()
	}
	onu, err := a.Rows.Onu(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	if onu == nil {
		return failure.NewConflict("onu_not_registered", "The ONU is not registered at this terminal.")
	}
	read, err := a.Read(ctx, *onu)
	if err != nil {
		return err
	}
	out := cpeOptical{
		OLT: onu.OLT, Port: read.Port, Serial: onu.Serial, VLAN: null.Of(read.VLAN), Online: read.Online,
	}
	if levels := read.Levels; levels != nil {
		signal := signalOf(levels.Received)
		out.Received, out.Sent, out.AtOLT = &levels.Received, &levels.Sent, &levels.ReceivedAtOLT
		out.Distance, out.Quality = &levels.Distance, &signal
	}
	return c.Send(http.StatusOK, out)
}
