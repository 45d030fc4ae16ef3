package routeros_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// BenchmarkPrint reads a thousand sessions, and one small menu, over each protocol.
func BenchmarkPrint(b *testing.B) {
	sim, err := router.New(router.Config{
		Routers: []router.RouterConfig{{Name: "r", Tunnel: netip.MustParseAddr("10.99.0.2")}},
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := sim.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = sim.Stop(context.Background()) }()
	r := sim.Router("r")
	if err := r.UseRADIUS(); err != nil {
		b.Fatal(err)
	}
	if _, err := r.Do("interface/pppoe-server/server", "add",
		router.Item{"service-name": "s", "interface": "ether5", "disabled": "no"}); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		if _, err := r.Connect(router.Session{Kind: "pppoe", User: fmt.Sprintf("u%d", i), Server: "s",
			Address: fmt.Sprintf("10.50.%d.%d", i/250, i%250+1)}); err != nil {
			b.Fatal(err)
		}
	}
	g, err := routeros.New(routeros.Config{
		Guard: breaker.New(breaker.Config{}), Policy: routeros.Anywhere, Dial: sim.Dial,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	for name, port := range map[string]uint16{"rest": routeros.PortHTTP, "api": routeros.PortAPI} {
		d := g.Device(routeros.Target{
			ID: name, Address: netip.MustParseAddr("10.99.0.2"), Port: port,
			Credentials: routeros.Credentials{User: "admin"},
		})
		for menu, want := range map[string]int{"ppp/active": 1000, "system/resource": 1} {
			b.Run(name+" "+menu, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if items, err := d.Print(b.Context(), menu, routeros.Query{}); err != nil || len(items) != want {
						b.Fatal(len(items), err)
					}
				}
			})
		}
	}
}
