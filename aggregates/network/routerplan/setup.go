package routerplan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Menus of a router's own setup: what the bootstrap script makes and no service has.
const (
	MenuRadius         = "radius"
	MenuRadiusIncoming = "radius/incoming"
	MenuPPPAAA         = "ppp/aaa"
	MenuUser           = "user"
	MenuUserGroup      = "user/group"
	MenuIPService      = "ip/service"
	MenuCertificate    = "certificate"
	MenuSSTPClient     = "interface/sstp-client"
	MenuScheduler      = "system/scheduler"
)

// Setup is the desired state of a router as a whole.
type Setup struct {
	Firewall     Firewall
	RadiusSecret string
	// SecretStale says that the router was given another RADIUS secret last, or that nobody knows which one. Most
	// routers hide the secret, so that a reading cannot show it.
	SecretStale bool
	APIUser     string
	APIPort     int
	Tunnel      TunnelLink
	// TunnelAddress is the router's own address in the tunnel, by which the RADIUS server knows it; "" = not known.
	TunnelAddress string
	AllowReboot   bool // the API user's group has the policy reboot
	// Running lists the runs in progress on the router, whose rollbacks are no difference.
	Running []id.Run
}

// SetupMenus lists the menus to read before CompareSetup. A menu that the API user may not read is left out of the
// snapshot, and is not compared then.
func SetupMenus(f Firewall) []string {
	return slices.Concat([]string{
		MenuRadius, MenuRadiusIncoming, MenuPPPAAA, MenuUser, MenuUserGroup, MenuIPService, MenuCertificate,
	}, FirewallMenus(f), []string{MenuSSTPClient, MenuScheduler})
}

// CompareSetup compares a router with its desired setup: RADIUS client and its place, accounting, incoming requests,
// API user and group, services, certificate, tunnel, firewall, rollbacks that ended runs have left, and entries of
// somebody else that have their names: those are for a person to rename. What only the bootstrap script can repair has
// no step: an API user may not change users, and a write to the tunnel would break the
// connection that it comes through.
func CompareSetup(s Snapshot, want Setup, v Version) Diff {
	var d Diff
	d.Differences = slices.Concat(radiusClient(s, want), tunnelClient(s, want.Tunnel, v),
		single(s, MenuPPPAAA, map[string]string{
			"use-radius": "yes", "accounting": "yes", "interim-update": interimUpdate,
		}), single(s, MenuRadiusIncoming, incoming(s, want)), apiUser(s, want, v), ipServices(s, want, v))
	first := asked(s, want.Firewall.RadiusHost)
	for _, x := range d.Differences {
		if x.Path == MenuRadius && x.want != nil {
			d.steps = append(d.steps, radiusSteps(x, first)...)
			continue
		}
		d.steps = append(d.steps, setupSteps(x)...)
	}
	rules := CompareFirewall(s, want.Firewall).onlyRead(s)
	d.Differences = append(d.Differences, rules.Differences...)
	d.steps = append(d.steps, rules.steps...)
	d.Differences = slices.Concat(d.Differences, leftRollbacks(s, want.Running), foreignRollbacks(s))
	d.steps = append(d.steps, LeftRollbacks(s, want.Running...)...)
	return d
}

// setupSteps gives the writes that remove one difference of the setup.
func setupSteps(x Difference) []Step {
	switch {
	case x.fault != "":
		return nil
	case x.want == nil:
		return []Step{removal(x)}
	case x.row == nil:
		return []Step{addition(x)}
	}
	return []Step{change(x)}
}

// incoming gives the values with which a router takes requests of the platform. They come in the main routing table,
// where the tunnel is; older releases have no other.
func incoming(s Snapshot, want Setup) map[string]string {
	values := map[string]string{"accept": "yes", "port": strconv.Itoa(want.Firewall.CoAPort)}
	if rows := s[MenuRadiusIncoming]; len(rows) > 0 && rows[0]["vrf"] != "" {
		values["vrf"] = "main"
	}
	return values
}

// single compares a menu of one row.
func single(s Snapshot, path string, values map[string]string) []Difference {
	rows, read := s[path]
	if !read || len(rows) == 0 {
		return nil
	}
	m := menu{path: path, name: propertyName}
	r := Resource{Path: path, Name: path, Values: values}
	row := maps.Clone(rows[0])
	delete(row, propertyID) // the menu is set as a whole
	x, differs := m.changed(r, row)
	if !differs {
		return nil
	}
	x.want = &r
	return []Difference{x}
}

// scriptNeeded is the fault of what only the bootstrap script can repair.
const scriptNeeded = "differs, and only the bootstrap script can repair it: run it again on the router"

// apiUser compares the API user and its group. A user outside the platform's group is a login of the operator's and
// only needs to exist.
func apiUser(s Snapshot, want Setup, v Version) []Difference {
	var found []Difference
	for _, user := range s[MenuUser] {
		if user[propertyName] != want.APIUser || user["group"] != bootstrapGroup {
			continue
		}
		if !SameValue(propertyAddress, user[propertyAddress], commands.TunnelPlan.String()) {
			found = append(found, Difference{
				Path: MenuUser, Kind: KindChanged, Name: want.APIUser,
				Expected: map[string]string{propertyAddress: commands.TunnelPlan.String()},
				Actual:   map[string]string{propertyAddress: user[propertyAddress]}, fault: scriptNeeded,
			})
		}
		found = append(found, userGroup(s, want, v)...)
	}
	return found
}

// userGroup compares the policies of the platform's group.
func userGroup(s Snapshot, want Setup, v Version) []Difference {
	granted := []string{"api", "read", "write"}
	if want.AllowReboot {
		granted = append(granted, "reboot")
	}
	if v.AtLeast(7, 0) {
		granted = append(granted, "rest-api")
	}
	slices.Sort(granted)
	for _, group := range s[MenuUserGroup] {
		if group[propertyName] != bootstrapGroup {
			continue
		}
		has := slices.DeleteFunc(splitList(group["policy"]), func(p string) bool { return strings.HasPrefix(p, "!") })
		slices.Sort(has)
		if slices.Equal(has, granted) {
			return nil
		}
		return []Difference{{
			Path: MenuUserGroup, Kind: KindChanged, Name: bootstrapGroup,
			Expected: map[string]string{"policy": strings.Join(granted, ",")},
			Actual:   map[string]string{"policy": strings.Join(has, ",")}, fault: scriptNeeded,
		}}
	}
	return nil
}

// ipServices compares the router's services with the plan that the script follows, too.
func ipServices(s Snapshot, want Setup, v Version) []Difference {
	var found []Difference
	m := menu{path: MenuIPService, name: propertyName}
	for _, access := range ServicePlan(want.APIPort, v) {
		for _, row := range s.static(MenuIPService) {
			if row[propertyName] != access.Name {
				continue
			}
			values := map[string]string{propertyAddress: commands.TunnelPlan.String()}
			if access.Port != 0 {
				values["port"], values[propertyDisabled] = strconv.Itoa(access.Port), "no"
			}
			r := Resource{Path: MenuIPService, Name: access.Name, Values: values}
			if x, differs := m.changed(r, row); differs {
				x.want = &r
				found = append(found, x)
			}
			if lacksCertificate(s, access, row) {
				found = append(found, Difference{
					Path: MenuIPService, Kind: KindChanged, Name: access.Name,
					Expected: map[string]string{"certificate": bootstrapCertificate},
					Actual:   map[string]string{"certificate": row["certificate"]}, fault: scriptNeeded,
				})
			}
		}
	}
	return found
}

// lacksCertificate reports whether an encrypted service has no certificate, or one that the router no longer has.
func lacksCertificate(s Snapshot, access ServiceAccess, row Row) bool {
	certificates, read := s[MenuCertificate]
	return access.Certificate && read && !slices.ContainsFunc(certificates, func(c Row) bool {
		return c[propertyName] == row["certificate"] && row["certificate"] != ""
	})
}

// ownsSetup reports whether a row of the setup is the one that a step was made for.
func (s Step) ownsSetup(row Row) bool {
	switch s.Path {
	case MenuRadius:
		was, changes := s.Before[propertyComment]
		return row[propertyComment] == bootstrapComment || changes && row[propertyComment] == was
	case MenuIPService:
		return row[propertyName] == s.Name
	case MenuScheduler:
		return row[propertyName] == s.Name && isRollback(row)
	}
	return false
}
