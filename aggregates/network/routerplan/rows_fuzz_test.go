package routerplan_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// drawnRows reads rows of one menu from a text: a row on each line, its properties as name=value, separated by tabs.
func drawnRows(text string) []routerplan.Row {
	var rows []routerplan.Row
	for line := range strings.Lines(text) {
		row := routerplan.Row{".id": "*1"}
		for field := range strings.SplitSeq(strings.TrimSpace(line), "\t") {
			name, value, _ := strings.Cut(field, "=")
			row[name] = value
		}
		rows = append(rows, row)
	}
	return rows
}

// everywhere puts the same rows into all menus that the platform reads.
func everywhere(text string) routerplan.Snapshot {
	s := routerplan.Snapshot{}
	for _, menus := range [][]string{
		routerplan.CheckMenus(events.ServiceBinding{Type: events.ServiceHotspot}), routerplan.ApplyMenus(),
		routerplan.SessionMenus(), setupMenus(), firewallMenus(),
	} {
		for _, menu := range menus {
			s[menu] = drawnRows(text)
		}
	}
	return s
}

// rowSeeds are rows in the form of drawnRows.
var rowSeeds = []string{
	"name=ether1\ttype=ether\trunning=true\nname=vlan1\ttype=vlan\tinterface=vlan1",
	"dst-address=0.0.0.0/0\tgateway=10.0.0.1%ether1,x\timmediate-gw=,",
	"list=WAN\tinterface=ether1\tname=WAN\tinclude=WAN", "user=jane\tservice=pppoe-svc-1\tname=jane\tremote-address=AA",
	"comment=Platform-svc:\taddress=10.0.0.1/33", "comment=Platform-fw:tunnel\tchain=input\tdisabled=true",
	"name=www\tport=x\taddress=,\tpolicy=,!", "name=platform-tunnel\tcomment=BOOTSTRAP_VERSION=99999999999999999999",
	"slaves=a,b,,\tname=a\tinterface=b", "ranges=10.0.0.9-10.0.0.1,255.255.255.255\tstatus=bound\tactive-address=::1",
}

// FuzzInterfaces reads reserved interfaces and the picker. An interface that is reserved is never taken by a service.
func FuzzInterfaces(f *testing.F) {
	for _, seed := range rowSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := everywhere(text)
		reserved := routerplan.Reserved(s)
		for _, group := range routerplan.Picker(s) {
			for _, o := range group.Options {
				if _, is := reserved[o.Name]; is != o.Reserved {
					t.Errorf("%q is reserved %v in the picker", o.Name, o.Reserved)
				}
			}
		}
		for name := range reserved {
			service := testService(1, events.ServiceHotspot, name, 0)
			if routerplan.CheckBinding(s, service.ID, service.Binding) == nil {
				t.Errorf("a service may be on the reserved interface %q", name)
			}
		}
		routerplan.Occupied(s)
		routerplan.BootstrapOf(s)
		routerplan.RollbackRuns(s)
	})
}

// FuzzSessions reads sessions. Those that a removal ends are never more than the router has.
func FuzzSessions(f *testing.F) {
	for _, seed := range rowSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := everywhere(text)
		for n, kind := range []events.ServiceType{events.ServicePPPoE, events.ServiceHotspot} {
			service := testService(n, kind, "ether1", 0)
			if got := routerplan.Sessions(s, service); got < 0 || got > len(drawnRows(text)) {
				t.Errorf("%d sessions of %d rows", got, len(drawnRows(text)))
			}
			routerplan.CompareRemoval(s, service.ID)
		}
	})
}

// FuzzSnapshot compares any router with services and setup. The comparison never panics, is the same each time, and
// writes only to rows with the platform's tag or name.
func FuzzSnapshot(f *testing.F) {
	for _, seed := range rowSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, service := everywhere(text), testService(1, events.ServiceHotspot, "ether1", 7)
		for range 2 {
			d := routerplan.CompareDevice(s, []routerplan.Service{service}, modern)
			if d.Hash() != routerplan.CompareDevice(s, []routerplan.Service{service}, modern).Hash() {
				t.Error("the same router gives another difference")
			}
		}
		routerplan.CompareSetup(s, setupOf(), modern).Plan()
		run := id.New[id.Run]()
		routerplan.Armed(s, run, routerplan.Arm(s, run, 0)[0].Name, routerplan.RollbackAfter)
		routerplan.Disarm(s, run)
	})
}

// FuzzTunnel writes the configuration of a concentrator for any client: it is refused, or every line holds.
func FuzzTunnel(f *testing.F) {
	f.Add("nas-1", "secret123", "10.99.0.2")
	f.Add("a b", "se\"cret", "x\n")
	f.Fuzz(func(t *testing.T, user, secret, address string) {
		c := routerplan.TunnelConfig{
			Port: 443, Certificate: "/c", Key: "/k",
			Clients: []routerplan.TunnelClient{{User: user, Secret: secret, Address: address}},
		}
		config, secrets, err := routerplan.AccelPPP(c)
		if err == nil && (strings.Contains(config, "\x00") || !strings.Contains(secrets, user+" * "+secret)) {
			t.Errorf("%q %q: %q", user, secret, secrets)
		}
	})
}
