package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/simulators/terminals"
)

// demoOLTToken is the demo's token at its optical line terminal. Everybody can read it.
const demoOLTToken = secrets.Text("lastmile-demo-terminals")

// demoONU is the one that a customer of the demo has.
var demoONU = onuOfDemo{terminals.ONU{
	Organization: demoSlug, OLT: "hill", Port: "0/1/1", Serial: "LMSM00000001", Number: 1, VLAN: 100,
}}

// onuOfDemo is an ONU on the fibre of the demo's terminal.
type onuOfDemo struct{ terminals.ONU }

// place is the body of a request for it.
func (o onuOfDemo) place() map[string]any {
	return map[string]any{"olt": o.OLT, "port": o.Port, "serial": o.Serial, "vlan": o.VLAN}
}

// startTerminals starts the demo's optical line terminal, on whose fibre are three ONUs more. When the usual address is
// taken, it has a free one.
func startTerminals(ctx context.Context, c clock.Clock) (*terminals.Simulator, error) {
	var sim *terminals.Simulator
	var err error
	for _, addr := range []string{"127.0.0.1:8098", "127.0.0.1:0"} {
		sim = terminals.New(terminals.Config{Addr: addr, Token: demoOLTToken.Reveal(), Clock: c})
		if err = sim.Start(context.WithoutCancel(ctx)); err == nil {
			break
		}
	}
	sim.Put(terminals.Terminal{
		Organization: demoONU.Organization, Name: demoONU.OLT, Ports: []string{demoONU.Port, "0/1/2"},
		VLANs: []int{demoONU.VLAN, 2 * demoONU.VLAN}, Seen: map[string][]string{
			demoONU.Port: {demoONU.Serial, "LMSM00000002", "LMSM00000003", "LMSM00000004"},
		},
	})
	return sim, err
}

// withTerminals gives a configuration in which a simulator has the optical line terminals.
func (c Config) withTerminals(sim *terminals.Simulator) Config {
	c.OLTURL, c.OLTToken = sim.URL(), demoOLTToken
	return c
}
