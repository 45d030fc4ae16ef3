package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/gateways/olt"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/cpe"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// cpeServer is the CPE server as the parts of the area ask it.
type cpeServer struct {
	cpejobs.Server
	boxes cpejobs.Boxes
	wifi  wifiNetworks
	files cpejobs.FileServer
}

// wifiNetworks reads the Wi-Fi networks of a CPE.
type wifiNetworks interface {
	Networks(ctx context.Context, row cpeviews.CPERow) ([]cpeviews.Network, error)
}

// opticalTerminals are the optical line terminals, and what they read.
type opticalTerminals interface {
	cpejobs.Terminals
	Read(ctx context.Context, at olt.Place) (olt.Reading, error)
}

// wireOnus makes the client of the optical line terminals, registers its jobs, and makes its endpoints. Without
// terminals the jobs are known all the same: what was asked for earlier ends.
func (a *App) wireOnus(
	server cpeServer, rows cpeviews.CPEsQuery, operations cpeviews.OperationsQuery,
) (cpecases.Onus, []httpapi.Route) {
	var known opticalTerminals = cpejobs.NoTerminals{}
	ready := cpejobs.ErrNoTerminals
	if a.cfg.OLTURL != "" {
		client := olt.New(olt.Config{
			Guard: a.breakers, Address: a.cfg.OLTURL, Token: a.cfg.OLTToken.Reveal(), Clock: a.clock, Logger: a.logger,
		})
		a.life.startedBeside("client of the terminals", stopStorage, func(context.Context) { client.Close() })
		known, ready = client, func() error {
			if a.cfg.ACSNBIURL == "" {
				return server.Ready()
			}
			return nil // what is out of reach is tried again
		}
	}
	cpejobs.Onus{
		Bus: a.engines.bus, Rows: operations, CPE: rows.Any, Terminals: known, Boxes: server.boxes, Clock: a.clock,
	}.Register(a.engines.jobs)
	cases := cpecases.Onus{Bus: a.engines.bus, Ready: ready}
	return cases, cpeapi.Onus{
		Cases: cases, CPEs: rows, Rows: operations,
		Read: func(ctx context.Context, onu cpeviews.OnuRow) (cpeapi.OpticalReading, error) {
			read, err := known.Read(ctx, olt.Place{Organization: onu.OrgSlug, OLT: onu.OLT, Serial: onu.Serial})
			return cpeapi.OpticalReading{
				Port: read.Port, Online: read.Online, VLAN: read.VLAN, Levels: (*cpeapi.OpticalLevels)(read.Levels),
			}, err
		},
	}.Routes()
}
