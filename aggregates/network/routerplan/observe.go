package routerplan

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Menus that only the auditor of access reads.
const (
	MenuQueue        = "queue/simple"
	MenuHotspotHost  = "ip/hotspot/host"
	MenuEthernet     = "interface/ethernet"
	MenuEthernetLink = "interface/ethernet/monitor" // not a menu: what the command monitor tells about ports
)

// Read is a part of a menu that is read: the rows that meet all conditions, and some properties of them.
type Read struct {
	Menu  string
	Where map[string]string // nil = all rows
	Props []string
}

// ObserveReads lists what is read before Observe, without MenuEthernetLink.
func ObserveReads() []Read {
	return append(SignInReads(), []Read{
		{
			Menu: MenuPPPActive, Where: map[string]string{"service": "pppoe"},
			Props: []string{propertyID, propertyName, "caller-id", propertyAddress, "radius", "session-id", "uptime"},
		},
		{Menu: MenuPPPoESession, Props: []string{propertyID, propertyName, "user", "remote-address"}},
		{
			Menu: MenuHotspotActive, Props: []string{
				propertyID, "user", propertyServer, "mac-address", propertyAddress, "radius", "uptime", "login-by",
			},
		},
		{
			Menu: MenuHotspotHost, Where: map[string]string{"bypassed": "true"},
			Props: []string{propertyID, "mac-address", propertyAddress, propertyServer},
		},
		{
			Menu: MenuQueue, Where: map[string]string{propertyDynamic: "true"},
			Props: []string{propertyID, "target", "max-limit"},
		},
		{
			Menu: MenuAddressList, Where: map[string]string{propertyList: GardenList},
			Props: []string{propertyID, propertyAddress, propertyDynamic, propertyTimeout, propertyDisabled},
		},
		{
			Menu:  MenuPPPoEServer,
			Props: []string{propertyID, propertyServiceName, propertyInterface, propertyDisabled},
		},
		{Menu: MenuVlan, Props: []string{propertyID, propertyName, propertyInterface}},
		{Menu: MenuEthernet, Props: []string{propertyID, propertyName}},
	}...)
}

// Observed has everything that a router shows about the customers who are online. Texts of the router are as it gives
// them; MACs and addresses are "" when they are none.
type Observed struct {
	Sessions []ObservedSession
	Queues   []ObservedQueue // of sessions
	// Garden has the addresses in the walled garden. A value is true for one that RADIUS put there, and false for one
	// that a person or a rule of the router did.
	Garden  map[string]bool
	Nets    []netip.Prefix // more addresses in the walled garden, which a person put there
	Ranges  []AddressRange // likewise
	Ports   []ObservedPort // whose speed the router tells
	Asks    Asks
	SignIns SignIns
	// Reported has both of a router whose reports come: its RADIUS client leads here whatever its address, which may
	// be a former one of the platform.
	Reported struct {
		Asks    Asks
		SignIns SignIns
	}
}

// Asks tells which sign-ins the router takes to the platform's RADIUS server, and to no other one.
type Asks struct{ PPP, Hotspot bool }

// asks finds out which sign-ins come to the platform alone.
func (h Home) asks(s Snapshot) Asks { return Asks{PPP: h.alone(s, false), Hotspot: h.alone(s, true)} }

// AddressRange has all addresses from First to Last, which are of one family.
type AddressRange struct{ First, Last netip.Addr }

// contains reports whether an address lies in the range.
func (r AddressRange) contains(ip netip.Addr) bool {
	return ip.BitLen() == r.First.BitLen() && r.First.Compare(ip) <= 0 && ip.Compare(r.Last) <= 0
}

// parseRange reads two addresses with a dash in between; false for any other text, and for a range without addresses.
func parseRange(text string) (AddressRange, bool) {
	from, to, ranged := strings.Cut(text, "-")
	first, err := netip.ParseAddr(strings.TrimSpace(from))
	last, wrong := netip.ParseAddr(strings.TrimSpace(to))
	if !ranged || err != nil || wrong != nil || first.BitLen() != last.BitLen() || last.Less(first) {
		return AddressRange{}, false
	}
	return AddressRange{first, last}, true
}

// ObservedSession is one customer's device that is online.
type ObservedSession struct {
	Hotspot bool   // else PPPoE
	Server  string // of a hotspot
	User    string // "" for a bypassed device
	Key     string // Acct-Session-Id in lower case; "" = the menu has none
	Address string
	MAC     string
	// Interface is the one that the router made for a PPPoE session, and the target of its queue; "" = not told.
	Interface string
	Radius    bool          // the router says that RADIUS let it in
	Trial     bool          // the hotspot let it in for a while without a login
	Bypass    bool          // an ip-binding of the hotspot lets it pass without a login
	Uptime    time.Duration // 0 = not told
}

// ObservedQueue is the queue of a session.
type ObservedQueue struct {
	Target string // the address of a hotspot's session, or the interface of another one
	Limit  string // upload and download in bit/s as the router writes them, such as "1M/10M"
}

// ObservedPort is the physical port behind a server of customers.
type ObservedPort struct {
	Server string // service name of PPPoE, or name of the hotspot
	Name   string // of the port
	Rate   int64  // kbit/s
}

// Observe reads what a router shows. Rows that cannot be read are left out.
func Observe(s Snapshot, home Home) Observed {
	out := Observed{
		Garden: map[string]bool{}, Ports: observedPorts(s), SignIns: SignInsOf(s, home),
		Asks: home.asks(s),
	}
	home.Server = ""
	out.Reported.Asks, out.Reported.SignIns = home.asks(s), SignInsOf(s, home)
	made := map[[2]string][]string{} // interfaces by user and MAC
	for _, r := range s[MenuPPPoESession] {
		key := [2]string{r["user"], observedMAC(r["remote-address"])}
		made[key] = append(made[key], r[propertyName])
	}
	for _, r := range s[MenuPPPActive] {
		key, on := [2]string{r[propertyName], observedMAC(r["caller-id"])}, ""
		if names := made[key]; len(names) > 0 {
			on, made[key] = names[0], names[1:]
		}
		out.Sessions = append(out.Sessions, ObservedSession{
			User: r[propertyName], Address: observedAddress(r), MAC: key[1], Interface: on,
			Key:    strings.TrimPrefix(strings.ToLower(r["session-id"]), "0x"),
			Radius: isTrue(r["radius"]), Uptime: uptimeOf(r),
		})
	}
	for _, r := range s[MenuHotspotActive] {
		out.Sessions = append(out.Sessions, ObservedSession{
			Hotspot: true, Server: r[propertyServer], User: r["user"], Address: observedAddress(r),
			MAC: observedMAC(r["mac-address"]), Radius: isTrue(r["radius"]),
			Trial: r["login-by"] == "trial" && !isTrue(r["radius"]), Uptime: uptimeOf(r),
		})
	}
	for _, r := range s[MenuHotspotHost] {
		out.Sessions = append(out.Sessions, ObservedSession{
			Hotspot: true, Bypass: true, Address: observedAddress(r), MAC: observedMAC(r["mac-address"]),
		})
	}
	for _, r := range s[MenuQueue] {
		target, _, _ := strings.Cut(r["target"], "/")
		out.Queues = append(out.Queues, ObservedQueue{Target: target, Limit: r["max-limit"]})
	}
	for _, r := range s[MenuAddressList] {
		if !isTrue(r[propertyDisabled]) {
			out.wall(r)
		}
	}
	return out
}

// wall adds an entry of the address list of the walled garden: an address, a network or a range. One with a timeout is
// dynamic as those of RADIUS are, and a person or a rule of the router made it.
func (o *Observed) wall(r Row) {
	if net, err := netip.ParsePrefix(r[propertyAddress]); err == nil && !net.IsSingleIP() {
		o.Nets = append(o.Nets, net)
		return
	}
	if some, ok := parseRange(r[propertyAddress]); ok {
		o.Ranges = append(o.Ranges, some)
		return
	}
	text, _, _ := strings.Cut(r[propertyAddress], "/")
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return
	}
	before, twice := o.Garden[ip.String()]
	o.Garden[ip.String()] = isTrue(r[propertyDynamic]) && r[propertyTimeout] == "" && (before || !twice)
}

// Walled reports whether an address is in the walled garden, and whether RADIUS alone put it there.
func (o Observed) Walled(address string) (walled, radius bool) {
	radius, walled = o.Garden[address]
	ip, err := netip.ParseAddr(address)
	if err == nil && (slices.ContainsFunc(o.Nets, func(net netip.Prefix) bool { return net.Contains(ip) }) ||
		slices.ContainsFunc(o.Ranges, func(some AddressRange) bool { return some.contains(ip) })) {
		return true, false
	}
	return walled, radius
}

// macForm is a MAC as routers write it.
var macForm = regexp.MustCompile(`^([0-9A-F]{2}:){5}[0-9A-F]{2}$`)

// observedMAC reads a MAC; "" for any other text.
func observedMAC(text string) string {
	if text = strings.ToUpper(text); macForm.MatchString(text) {
		return text
	}
	return ""
}

// observedAddress reads the address of a row; "" when there is none.
func observedAddress(r Row) string {
	ip, err := netip.ParseAddr(r[propertyAddress])
	if err != nil {
		return ""
	}
	return ip.String()
}

// uptimeOf reads how long a session has lasted.
func uptimeOf(r Row) time.Duration {
	d, _ := ParseDuration(r["uptime"])
	return d
}

// ServerPorts gives the physical port of each server of customers that is on one, or on a VLAN of one: by the service
// name of PPPoE, or the name of the hotspot. Bridges have several ports and are left out.
func ServerPorts(s Snapshot) map[string]string {
	ethernet := map[string]bool{}
	for _, r := range s[MenuEthernet] {
		ethernet[r[propertyName]] = true
	}
	parents := map[string]string{}
	for _, r := range s[MenuVlan] {
		parents[r[propertyName]] = r[propertyInterface]
	}
	out := map[string]string{}
	place := func(server, on string, r Row) {
		if parent, is := parents[on]; is {
			on = parent
		}
		if server != "" && ethernet[on] && !isTrue(r[propertyDisabled]) {
			out[server] = on
		}
	}
	for _, r := range s[MenuPPPoEServer] {
		place(r[propertyServiceName], r[propertyInterface], r)
	}
	for _, r := range s[MenuHotspot] {
		place(r[propertyName], r[propertyInterface], r)
	}
	return out
}

// linkUnits are the units in which routers tell the speed of a port, in kbit/s.
var linkUnits = []struct {
	suffix string
	kbits  float64
}{{"Gbps", 1_000_000}, {"Mbps", 1_000}}

// observedPorts joins servers with the speed of their port, as far as the router tells it.
func observedPorts(s Snapshot) []ObservedPort {
	rates := map[string]int64{}
	for _, r := range s[MenuEthernetLink] {
		for _, unit := range linkUnits {
			number, is := strings.CutSuffix(r["rate"], unit.suffix)
			if n, err := strconv.ParseFloat(number, 64); is && err == nil && n > 0 {
				rates[r[propertyName]] = int64(n * unit.kbits)
			}
		}
	}
	var out []ObservedPort
	for server, port := range ServerPorts(s) {
		if rates[port] > 0 {
			out = append(out, ObservedPort{Server: server, Name: port, Rate: rates[port]})
		}
	}
	slices.SortFunc(out, func(a, b ObservedPort) int { return strings.Compare(a.Server, b.Server) })
	return out
}
