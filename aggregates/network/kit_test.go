package network_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// now is the instant of all decisions in these tests.
var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// The network of these tests: ids are the same in every run.
var (
	org      = id.Derive[id.Organization]("test", "org")
	device   = id.Derive[id.Device]("test", "device")
	device2  = id.Derive[id.Device]("test", "device 2")
	service  = id.Derive[id.Service]("test", "service")
	service2 = id.Derive[id.Service]("test", "service 2")
	run      = id.Derive[id.Run]("test", "run")
	run2     = id.Derive[id.Run]("test", "run 2")
	secret   = id.Derive[id.Secret]("test", "secret")
	secret2  = id.Derive[id.Secret]("test", "secret 2")
)

// The definitions that the bus executes.
var (
	devices  = network.Devices()
	services = network.Services()
	plans    = network.AddressPlans()
	runs     = network.Runs()
)

// survives checks that closing a period passes the whole state on; an empty list may come back as nil.
func survives[S any, C commands.Command, E events.Event](t *testing.T, s *decidertest.Scenario[S, C, E]) {
	t.Helper()
	s.SurvivesClosing(cmpopts.EquateEmpty())
}
