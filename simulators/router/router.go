package router

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// RouterConfig describes one router; Name is required, the rest has a default.
type RouterConfig struct {
	Name     string
	Version  string     // "7.16" when empty
	Board    string     // board-name
	Host     string     // loopback address to listen at; 127.0.0.1 when empty
	Ports    Ports      // 0 takes a free port, negative none
	Tunnel   netip.Addr // address at which Dial finds the router; zero = none
	User     string     // the full user; admin when empty
	Password string
	Empty    bool // without the home configuration; see home
	// Remote makes Dial find the router only while one of its SSTP clients runs, as it is with a router in the field.
	// Otherwise Dial reaches it also over a cable of its own, which no firewall rule filters.
	Remote bool
	// DeviceMode lists menus that the device mode forbids, such as "ip/hotspot"; SetDeviceMode changes it.
	DeviceMode []string
	// RADIUS gives the place on this machine of a RADIUS server, by the address and port that the router's settings
	// name; zero = it never answers. Customers sign in there, see SignIn. When nil, imaginary servers check customers,
	// see Connect.
	RADIUS func(netip.AddrPort) netip.AddrPort
	// CoAPort is the UDP port at Host for requests to change and to end sessions; a free one when 0. They reach the
	// router while its /radius/incoming names this port and accepts them. It is used with RADIUS only.
	CoAPort uint16
}

// Ports are the TCP ports of a router's listeners; 0 means a free one, a negative number no listener.
type Ports struct {
	WWW    int `json:"www"`
	WWWSSL int `json:"www-ssl"`
	API    int `json:"api"`
	APISSL int `json:"api-ssl"`
}

// Router is one router: a configuration store with two protocols in front. Safe for concurrent use.
type Router struct {
	sim     *Simulator
	cfg     RouterConfig
	version version
	menus   map[string]*menu
	seed    uint64

	mu        sync.Mutex // guards all below
	tables    map[string]*table
	traffic   map[*row]*flow
	unplugged map[string]bool
	linkRates map[string]string // of ports, as in SetLinkRate
	lies      map[string][]Item // by menu, as in Lie
	booted    time.Time
	skew      time.Duration // of the router's clock: what steps of it have added
	boots     uint64        // restarts so far; a digit of session ids
	sessions  uint64        // PPP sessions since the start
	macs      uint64
	writes    uint64 // applied over a protocol
	memory    uint64
	seenFrom  netip.Addr // the address of loopback clients for address filters
	mode      []string   // menus that the device mode forbids
	off       bool
	woken     chan struct{}      // closed when the power comes back
	due       map[*row]time.Time // next runs of system/scheduler
	nested    int                // stored scripts that run within each other at this moment
	ticking   bool               // a scheduled script runs at this moment
	acting    *caller            // of the command that runs; nil for Do
	faults    Faults
	lines     []string // log of writes, for tests
	door      door

	online    map[string]*row // sessions that RADIUS made, by the handset's id
	signing   map[string]bool // addresses of hotspot devices that sign in at this moment
	customers map[string]*customer
	ends      []ending // what unlock does
	cut       bool     // unlock restarts the handsets' side
	cause     handset.Cause
	changed   chan struct{} // closed when a customer's state changes, and replaced

	nas   *handset.NAS // nil = imaginary RADIUS servers
	dials chan struct{}
	loops *loop.Group
}

// newRouter makes a router with its factory configuration; it does not listen yet.
func newRouter(sim *Simulator, cfg RouterConfig, seed uint64) (*Router, error) {
	cfg.Version = cmp.Or(cfg.Version, "7.16")
	cfg.Board = cmp.Or(cfg.Board, "RB5009UG+S+")
	cfg.Host = cmp.Or(cfg.Host, "127.0.0.1")
	cfg.User = cmp.Or(cfg.User, "admin")
	v, err := parseVersion(cfg.Version)
	if err != nil {
		return nil, err
	}
	if host, err := netip.ParseAddr(cfg.Host); err != nil || !host.IsLoopback() {
		return nil, fmt.Errorf("router %s: %q is not a loopback address", cfg.Name, cfg.Host)
	}
	if sim.menus[v] == nil {
		sim.menus[v] = menusOf(v)
	}
	r := &Router{
		sim: sim, cfg: cfg, version: v, menus: sim.menus[v], seed: seed, memory: 1 << 30, tables: map[string]*table{},
		traffic: map[*row]*flow{}, unplugged: map[string]bool{},
		linkRates: map[string]string{}, lies: map[string][]Item{}, booted: sim.clock.Now(),
		seenFrom: netip.MustParseAddr("10.99.0.1"), mode: cfg.DeviceMode, woken: make(chan struct{}),
		due: map[*row]time.Time{}, online: map[string]*row{}, signing: map[string]bool{},
		customers: map[string]*customer{}, changed: make(chan struct{}), dials: make(chan struct{}, 1),
		loops: loop.New(sim.log),
	}
	r.factory()
	if cfg.RADIUS == nil {
		return r, nil
	}
	r.nas, err = handset.New(r.handsets())
	return r, err
}

// Name gives the router's name in the simulator, which is not its identity.
func (r *Router) Name() string { return r.cfg.Name }

// now gives the simulator's time, by which uptimes and leases count.
func (r *Router) now() time.Time { return r.sim.clock.Now() }

// wall gives the time of the router's own clock, by which its scheduler counts. The lock is held.
func (r *Router) wall() time.Time { return r.now().Add(r.skew) }

// uptime gives the time since the last boot. The lock is held.
func (r *Router) uptime() time.Duration { return r.now().Sub(r.booted) }

// put inserts an item without any check: for the factory configuration and sessions.
func (r *Router) put(path string, w row, props ...string) *row {
	m := r.menus[path]
	w.props = Item{}
	for i := range m.props {
		p := &m.props[i]
		if r.version.within(p.since, p.until) && p.def != "" {
			w.props[p.name] = unblank(p.def)
		}
	}
	for i := 0; i+1 < len(props); i += 2 {
		w.props[props[i]] = props[i+1]
	}
	if m.kind != "" {
		w.props["type"] = m.kind
	}
	if m.single {
		w.id = 1
	}
	kept := r.insert(m.table, &w)
	if m.added != nil {
		_ = m.added(r, kept)
	}
	return kept
}

// unblank gives the stored value of a default.
func unblank(def string) string {
	if def == blank {
		return ""
	}
	return def
}

// factory fills in the items that every router has and, unless Empty, a home configuration.
func (r *Router) factory() {
	for path, m := range r.menus {
		if m.single {
			r.put(path, row{builtin: true})
		}
	}
	for _, name := range []string{"all", "none", "dynamic", "static"} {
		if name != "static" || r.version >= v7 {
			r.put("interface/list", row{builtin: true, dynamic: false}, "name", name)
		}
	}
	full := "local,telnet,ssh,ftp,reboot,read,write,policy,test,winbox,password,web,sniff,sensitive,api,romon"
	if r.version >= v7 {
		full += ",rest-api"
	}
	for _, group := range [][2]string{
		{"read", "local,telnet,ssh,reboot,read,test,winbox,password,web,sniff,sensitive,api,romon"},
		{"write", "local,telnet,ssh,reboot,read,write,test,winbox,password,web,sniff,sensitive,api,romon"},
		{"full", full},
	} {
		list, _ := policies(r, "policy", group[1])
		r.put("user/group", row{builtin: true}, "name", group[0], "policy", list)
	}
	r.put("user", row{}, "name", r.cfg.User, "group", "full", "password", r.cfg.Password)
	for _, name := range []string{"default", "default-encryption"} {
		r.put("ppp/profile", row{builtin: true}, "name", name)
	}
	r.put("ip/hotspot/profile", row{builtin: true}, "name", "default")
	r.put("ip/hotspot/user/profile", row{builtin: true}, "name", "default")
	r.put("ip/hotspot/user", row{builtin: true}, "name", "default-trial", "comment",
		"counters and limits for trial users")
	for _, s := range []struct{ name, port string }{
		{"telnet", "23"}, {"ftp", "21"}, {"www", "80"}, {"ssh", "22"}, {"www-ssl", "443"}, {"api", "8728"},
		{"winbox", "8291"}, {"api-ssl", "8729"},
	} {
		w := r.put("ip/service", row{builtin: true}, "name", s.name, "port", s.port)
		if s.name == serviceWWWSSL || s.name == serviceAPISSL {
			w.props["certificate"] = "none"
			w.props["disabled"] = strconv.FormatBool(s.name == serviceWWWSSL)
		}
	}
	for i := 1; i <= 5; i++ {
		name := fmt.Sprintf("ether%d", i)
		r.put("interface/ethernet", row{builtin: true}, "name", name, "default-name", name)
	}
	r.put("interface/ethernet", row{builtin: true}, "name", "sfp1", "default-name", "sfp1")
	if r.version >= v7Loopback {
		r.insert("interface", &row{
			dynamic: true, props: Item{
				"name": "lo", "type": "loopback", "mtu": "65536", "disabled": "false",
				"mac-address": "00:00:00:00:00:00",
			},
		})
	}
	if !r.cfg.Empty {
		r.home()
	}
}

// home adds the usual configuration of a home router: one WAN port, a bridge over two others, a firewall.
func (r *Router) home() {
	r.put("interface/list", row{}, "name", "WAN", "comment", "defconf")
	r.put("interface/list", row{}, "name", "LAN", "comment", "defconf")
	r.put("interface/bridge", row{}, "name", "bridge", "comment", "defconf")
	for _, port := range []string{"ether2", "ether3"} {
		r.put("interface/bridge/port", row{}, "interface", port, "bridge", "bridge", "comment", "defconf")
	}
	r.put("interface/list/member", row{}, "list", "LAN", "interface", "bridge", "comment", "defconf")
	r.put("interface/list/member", row{}, "list", "WAN", "interface", "ether1", "comment", "defconf")
	r.put("ip/pool", row{}, "name", "default-dhcp", "ranges", "192.168.88.10-192.168.88.254")
	r.put("ip/address", row{}, "address", "192.168.88.1/24", "interface", "bridge", "comment", "defconf")
	r.put("ip/dhcp-server", row{}, "name", "defconf", "interface", "bridge", "address-pool", "default-dhcp",
		"disabled", "false")
	r.put("ip/dhcp-server/network", row{}, "address", "192.168.88.0/24", "gateway", "192.168.88.1", "comment",
		"defconf")
	client := r.put("ip/dhcp-client", row{}, "interface", "ether1", "disabled", "false", "comment", "defconf", "status",
		"bound", "address", "203.0.113.20/24",
		"gateway", "203.0.113.1", "dhcp-server", "203.0.113.1", "primary-dns", "203.0.113.1", "expires-after", "8m")
	r.insert("ip/route", &row{
		dynamic: true, owner: client, props: Item{
			"dst-address": "0.0.0.0/0", "gateway": "203.0.113.1", "distance": "1", "scope": "30", "target-scope": "10",
			"dhcp": "true", "disabled": "false",
		},
	})
	r.insert("ip/firewall/filter", &row{
		dynamic: true, props: Item{
			"chain": "forward", "action": "passthrough", "comment": "special dummy rule to show fasttrack counters",
		},
	})
	for _, rule := range [][]string{
		{
			"chain", "input", "action", "accept", "connection-state", "established,related,untracked", "comment",
			"defconf: accept established,related,untracked",
		},
		{"chain", "input", "action", "drop", "connection-state", "invalid", "comment", "defconf: drop invalid"},
		{"chain", "input", "action", "accept", "protocol", "icmp", "comment", "defconf: accept ICMP"},
		{
			"chain", "input", "action", "drop", "in-interface-list", "!LAN", "comment",
			"defconf: drop all not coming from LAN",
		},
		{
			"chain", "forward", "action", "accept", "connection-state", "established,related,untracked", "comment",
			"defconf: accept established,related, untracked",
		},
		{"chain", "forward", "action", "drop", "connection-state", "invalid", "comment", "defconf: drop invalid"},
	} {
		r.put("ip/firewall/filter", row{}, rule...)
	}
	r.put("ip/firewall/nat", row{}, "chain", "srcnat", "action", "masquerade", "out-interface-list", "WAN", "comment",
		"defconf: masquerade")
}
