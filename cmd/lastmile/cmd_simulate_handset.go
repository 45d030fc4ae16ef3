package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// simulateHandset is `lastmile simulate handset`: a router's customers, against a RADIUS server.
type simulateHandset struct {
	Addr   string `default:"127.0.0.1:8092" help:"Listen address of the control surface; port 0 picks a free one."`
	Radius string `required:"" help:"RADIUS server, as HOST or HOST:PORT."`
	Secret string `required:"" help:"The router's RADIUS secret."`
	NAS    string `name:"nas" default:"127.0.0.1" help:"Address of the router on this machine: requests come from it."`
	// CoAPort is 0 for a free port, so that several routers fit on one machine.
	CoAPort uint16 `name:"coa-port" default:"0" help:"Takes changes and disconnects, usually 3799; 0 picks a free one."`
	// AccountingPort of the RADIUS server.
	AccountingPort uint16 `default:"0" help:"Of the RADIUS server; 0 is the port after that for sign-ins."`
	Legacy         bool   `help:"RouterOS before 7.15, without Message-Authenticator."`
	Boots          uint32 `default:"0" help:"Restarts of the router so far; session ids differ by it."`
	Seed           uint64 `default:"1" help:"MACs, challenges and faults follow from it."`

	Count    int           `default:"1" help:"Customers."`
	First    int           `default:"1" help:"Number of the first customer."`
	Kind     string        `default:"pppoe" enum:"pppoe,hotspot" help:"pppoe or hotspot."`
	Method   string        `default:"" help:"pap, chap, mschap, mschapv2; for a hotspot pap, chap, mac."`
	User     string        `default:"customer{n}" help:"Name; {n} is the customer's number. A voucher's code."`
	Password string        `default:"" help:"Password; {n} is the customer's number, {user} the name."`
	Load     float64       `default:"0.1" help:"Share of the rate that each customer uses, over 0 to 1."`
	Rate     int           `default:"1000" help:"Sign-ins a second; 0 is as fast as possible."`
	Duration time.Duration `default:"0s" help:"Time online before all sign out; 0s is until a signal."`
}

// signOutLimit is the real time that the last reports may take.
const signOutLimit = 30 * time.Second

// Run signs the customers in, prints a summary, keeps them online, signs them out and prints another one. It is refused
// in production.
func (c simulateHandset) Run(ctx context.Context, p program) error {
	cfg, err := readConfig(p.environ)
	if err != nil {
		return err
	}
	if cfg.Production() {
		return errors.New("APP_ENV=production: simulators are refused")
	}
	nas, err := c.router(ctx)
	if err != nil {
		return err
	}
	l := newLifecycle(p.logger(cfg))
	defer l.stop()
	nas.Logger = l.logger
	sim, err := handset.NewSimulator(nas, c.Addr)
	if err != nil {
		return err
	}
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.started("simulator", stopServing, func(context.Context) { sim.Stop() })
	if _, err := fmt.Fprintf(p.out, "%s  changes %s\n", sim.URL(), sim.CoAAddr()); err != nil {
		return err
	}
	reasons := map[string]int{}
	err = sim.SignInAll(ctx, c.customers(), handset.Pace{PerSecond: c.Rate},
		func(_ handset.Customer, r handset.Result) {
			if r.Outcome != handset.Accepted {
				reasons[strings.TrimSuffix(string(r.Outcome)+": "+r.Message, ": ")]++
			}
		})
	if err != nil && ctx.Err() == nil {
		return err
	}
	c.summary(p.out, sim.Statistics(), reasons)
	if c.Duration > 0 {
		loop.Sleep(ctx, c.Duration)
	} else {
		<-ctx.Done()
	}
	return c.end(context.WithoutCancel(ctx), sim, p.out)
}

// router is the NAS that the flags describe.
func (c simulateHandset) router(ctx context.Context) (handset.Config, error) {
	server, err := findRADIUS(ctx, c.Radius, c.AccountingPort)
	if err != nil {
		return handset.Config{}, err
	}
	local, err := netip.ParseAddr(c.NAS)
	if err != nil {
		return handset.Config{}, fmt.Errorf("--nas: %w", err)
	}
	return handset.Config{
		Server: server.access, Accounting: server.accounting, Secret: []byte(c.Secret), Local: local,
		CoAPort: c.CoAPort, Legacy: c.Legacy, Boots: c.Boots, Seed: c.Seed, Clock: clock.NewMovable(clock.System(), 0),
	}, nil
}

// findRADIUS finds the server of the flag --radius, which is HOST or HOST:PORT. Accounting port 0 is the next port.
func findRADIUS(ctx context.Context, flag string, accounting uint16) (radiusPorts, error) {
	host, port, err := net.SplitHostPort(flag)
	if err != nil {
		host, port = flag, "1812"
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return radiusPorts{}, fmt.Errorf("--radius %s: %w", flag, err)
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if err != nil {
		return radiusPorts{}, fmt.Errorf("--radius %s: %w", flag, err)
	}
	server := netip.AddrPortFrom(found[0].Unmap(), uint16(number))
	return radiusPorts{
		access: server, accounting: netip.AddrPortFrom(server.Addr(), cmp.Or(accounting, server.Port()+1)),
	}, nil
}

// customers are those that the flags describe.
func (c simulateHandset) customers() []handset.Customer {
	list := make([]handset.Customer, 0, max(c.Count, 0))
	for i := range c.Count {
		n := strconv.Itoa(c.First + i)
		name := strings.ReplaceAll(c.User, "{n}", n)
		list = append(list, handset.Customer{
			Service: c.Kind, Method: c.Method, Name: name, Load: c.Load, Idle: c.Load == 0,
			Password: strings.NewReplacer("{n}", n, "{user}", name).Replace(c.Password),
		})
	}
	return list
}

// summary prints how the sign-ins went.
func (c simulateHandset) summary(out io.Writer, s handset.Statistics, reasons map[string]int) {
	_, _ = fmt.Fprintf(out, "accepted %d  rejected %d  unanswered %d  other %d  repeated %d  p50 %v  p99 %v\n",
		s.Accepted, s.Rejected, s.Unanswered, s.Distrusted+s.Unfit, s.Repeated, s.P50.Round(time.Microsecond),
		s.P99.Round(time.Microsecond))
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		_, _ = fmt.Fprintf(out, "  %d × %s\n", reasons[reason], reason)
	}
}

// end signs everybody out and prints what was reported.
func (c simulateHandset) end(ctx context.Context, sim *handset.Simulator, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, signOutLimit)
	defer cancel()
	ended := sim.SignOutAll(handset.UserRequest)
	err := sim.Idle(ctx)
	s := sim.Statistics()
	_, printErr := fmt.Fprintf(out, "signed out %d  disconnected %d  changed %d  reports %d  unanswered %d\n", ended,
		s.Disconnected, s.Changed, s.Reports, s.ReportsUnanswered)
	return errors.Join(err, printErr)
}
