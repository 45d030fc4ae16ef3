package routerplan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
)

// Names on routers that the walled garden needs. Customers in it are in the list that RADIUS names in its answer
// (Mikrotik-Address-List); what they may reach is in the other one, and all rules for them are in a chain of their own.
// Source: docs/rules/access-walled-garden.md#rules-on-the-router.
const (
	GardenList  = "walled-garden"
	AllowedList = "walled-garden-allowed"
	gardenChain = "platform-garden"
)

// MenuAddressList has the address lists of a router's firewall.
const MenuAddressList = "ip/firewall/address-list"

// propertyList is the list of an entry of MenuAddressList.
const propertyList = "list"

// fwAllowed is the comment of every entry of AllowedList that the platform makes.
const fwAllowed = FirewallTag + "garden-allowed"

// Garden says what customers in the walled garden of a router may reach.
type Garden struct {
	// Allowed lists the payment page, the payment provider and the platform's sites: host names, which the router
	// resolves, IPv4 addresses and subnets; a name may begin with "*." (see NameOf).
	Allowed []string
	// Sites lists what the router's services allow, in the same form.
	Sites []string
	// DNS is the name server that gets all questions of these customers; "" = the router answers them itself.
	DNS string
	// Redirect sends their plain web pages to the platform, through the tunnel, which leads them to the payment page.
	Redirect bool
}

// filterRules lists the rules of the filter: customers of the list enter the chain before any rule of the operator's,
// so that neither "established" nor fasttrack lets them through. What the chain does not accept it refuses at once: a
// TCP connection with a reset, all else with a message, so that a phone shows it without waiting.
func (g Garden) filterRules(radiusHost string) []Resource {
	var rules []Resource
	add := func(name, chain, action string, more map[string]string) {
		rules = append(rules, firewallRule(MenuFirewallFilter, name, chain, action, more))
	}
	for _, protocol := range []string{"udp", "tcp"} {
		question := map[string]string{"protocol": protocol, propertyDstPort: "53"}
		if g.DNS == "" { // the router itself is asked
			question[propertySrcList] = GardenList
			add("garden-dns-"+protocol, "input", "accept", question)
			continue
		}
		question[propertyDstAddress] = g.DNS
		add("garden-dns-"+protocol, gardenChain, "accept", question)
	}
	add("garden-dhcp", "input", "accept", map[string]string{
		propertySrcList: GardenList, "protocol": "udp", propertyDstPort: "67",
	})
	for _, chain := range []string{"input", "forward"} {
		add("garden-"+chain, chain, "jump", map[string]string{propertySrcList: GardenList, "jump-target": gardenChain})
	}
	// answers to the ISP's pings, and the messages that path MTU discovery needs
	add("garden-icmp", gardenChain, "accept", map[string]string{
		"protocol": "icmp", "connection-state": "established,related",
	})
	if g.Redirect {
		add("garden-redirect", gardenChain, "accept", map[string]string{
			"protocol": "tcp", propertyDstAddress: radiusHost, propertyDstPort: strconv.Itoa(commands.RedirectPort),
		})
	}
	add("garden-allowed", gardenChain, "accept", map[string]string{propertyDstList: AllowedList})
	add("garden-tcp", gardenChain, "reject", map[string]string{"protocol": "tcp", "reject-with": "tcp-reset"})
	add("garden-rest", gardenChain, "reject", map[string]string{"reject-with": "icmp-admin-prohibited"})
	return rules
}

// natRules lists the rules of the translation. All questions for names go to one server, whatever server the customer
// asks; plain web pages of other hosts lead to the platform. The router gives these connections its own address in the
// tunnel, by which the platform knows whose router it is.
func (g Garden) natRules(radiusHost string) []Resource {
	var rules []Resource
	add := func(name, chain, action string, more map[string]string) {
		rules = append(rules, firewallRule(MenuNAT, name, chain, action, more))
	}
	add("garden-nat", "dstnat", "jump", map[string]string{propertySrcList: GardenList, "jump-target": gardenChain})
	for _, protocol := range []string{"udp", "tcp"} {
		question := map[string]string{"protocol": protocol, propertyDstPort: "53", "to-ports": "53"}
		action := "redirect"
		if g.DNS != "" {
			action, question["to-addresses"] = "dst-nat", g.DNS
		}
		add("garden-nat-dns-"+protocol, gardenChain, action, question)
	}
	if !g.Redirect {
		return rules
	}
	port := strconv.Itoa(commands.RedirectPort)
	add("garden-nat-allowed", gardenChain, "accept", map[string]string{propertyDstList: AllowedList})
	add("garden-nat-redirect", gardenChain, "dst-nat", map[string]string{
		"protocol": "tcp", propertyDstPort: "80", "to-addresses": radiusHost, "to-ports": port,
	})
	add("garden-nat-source", "srcnat", "masquerade", map[string]string{
		propertySrcList: GardenList, "protocol": "tcp", propertyDstAddress: radiusHost, propertyDstPort: port,
		propertyOut: TunnelInterface,
	})
	return rules
}

// firewallRule is one rule of the platform; its comment is FirewallTag and the name.
func firewallRule(menu, name, chain, action string, more map[string]string) Resource {
	values := map[string]string{
		"chain": chain, propertyAction: action, propertyComment: FirewallTag + name,
	}
	maps.Copy(values, more)
	return Resource{Path: menu, Name: FirewallTag + name, Values: values}
}

// NameOf is the form in which a site stands in an address list: a router resolves whole names only, so that of
// "*.example.com" the name behind the star is left. Hotspots take the star.
func NameOf(site string) string { return strings.TrimPrefix(site, "*.") }

// allowed lists the entries of AllowedList, each once, in order.
func (g Garden) allowed() []Resource {
	var names []string
	for _, site := range slices.Concat(g.Allowed, g.Sites) {
		names = append(names, NameOf(site))
	}
	slices.Sort(names)
	var entries []Resource
	for _, name := range slices.Compact(names) {
		entries = append(entries, Resource{
			Path: MenuAddressList, Name: entryName(AllowedList, name), Values: map[string]string{
				propertyList: AllowedList, propertyAddress: name, propertyDisabled: "no", propertyComment: fwAllowed,
			},
		})
	}
	return entries
}

// entryName is the name by which people know an entry of an address list.
func entryName(list, address string) string { return list + " " + address }

// CompareAllowed compares the entries of AllowedList with those that a router should have. An entry of the operator's
// own with the same address serves as well, because a router has each once; it stays as it is, like all others of the
// operator's. The snapshot has MenuAddressList.
func CompareAllowed(s Snapshot, g Garden) Diff {
	var d Diff
	m := menu{path: MenuAddressList, name: propertyAddress}
	live := slices.DeleteFunc(s.static(MenuAddressList), func(r Row) bool { return r[propertyList] != AllowedList })
	slices.SortStableFunc(live, func(a, b Row) int { return strings.Compare(content(a), content(b)) })
	for _, want := range g.allowed() {
		at := slices.IndexFunc(live, func(r Row) bool {
			return SameValue(propertyAddress, r[propertyAddress], want.Values[propertyAddress])
		})
		if at < 0 {
			d.Differences = append(d.Differences, Difference{
				Path: m.path, Kind: KindMissing, Name: want.Name, Expected: want.Values, want: &want,
			})
			continue
		}
		row := live[at]
		live = slices.Delete(slices.Clone(live), at, at+1)
		if row[propertyComment] != fwAllowed {
			continue
		}
		if x, differs := m.changed(want, row); differs {
			x.want = &want
			d.Differences = append(d.Differences, x)
		}
	}
	for _, row := range live {
		if strings.HasPrefix(row[propertyComment], FirewallTag) {
			x := surplus(m, KindExtra, [16]byte{}, row)
			x.Name = entryName(AllowedList, row[propertyAddress])
			d.Differences = append(d.Differences, x)
		}
	}
	for _, x := range d.Differences {
		d.steps = append(d.steps, setupSteps(x)...)
	}
	return d
}

// CompareSites is the part of CompareAllowed that is written with a service: entries that no service allows are only
// removed and corrected. The firewall's repair adds them, with the rules that refer to them.
func CompareSites(s Snapshot, g Garden) Diff {
	var d Diff
	for _, x := range CompareAllowed(s, g).Differences {
		ofService := slices.ContainsFunc(g.Sites, func(site string) bool {
			return x.Name == entryName(AllowedList, NameOf(site))
		})
		if x.Kind == KindMissing && !ofService {
			continue
		}
		d.Differences = append(d.Differences, x)
		d.steps = append(d.steps, setupSteps(x)...)
	}
	return d
}

// With is both differences as one, with the writes of the other one first.
func (d Diff) With(other Diff) Diff {
	return Diff{
		Differences: slices.Concat(d.Differences, other.Differences), steps: slices.Concat(other.steps, d.steps),
	}
}
