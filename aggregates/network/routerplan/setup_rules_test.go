package routerplan_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// A menu that the API user may not read is not in the reading, and is not compared.
func TestSetup_ComparesOnlyTheMenusThatWereRead(t *testing.T) {
	t.Parallel()
	if d := routerplan.CompareSetup(routerplan.Snapshot{}, setupOf(), modern); !d.InSync() {
		t.Errorf("nothing was read: %+v", d.Resources())
	}
	empty := routerplan.Snapshot{
		routerplan.MenuRadius: {}, routerplan.MenuPPPAAA: {}, routerplan.MenuRadiusIncoming: {},
	}
	d := routerplan.CompareSetup(empty, setupOf(), modern)
	if got := shown(d.Plan()); !cmp.Equal(got, []string{"add radius Platform"}) {
		t.Errorf("an empty RADIUS menu leads to %v", got)
	}
	if d.Resources()[0].Expected["secret"] != "***" || d.Plan()[0].Values["secret"] != "radiusSecret1" {
		t.Errorf("the client is told as %+v and written as %+v", d.Resources(), d.Plan()[0].Values)
	}
}

func TestSetup_TellsEachPartThatDiffers(t *testing.T) {
	t.Parallel()
	client := routerplan.Row{
		".id": "*1", "service": "ppp,hotspot", "address": "10.99.0.1", "authentication-port": "1812",
		"accounting-port": "1813", "timeout": "3s", "comment": "Platform", "secret": "*****",
	}
	changed := func(path, name, property, want, have string) events.DriftedResource {
		return events.DriftedResource{
			Path: path, Kind: "changed", Name: name, Expected: map[string]string{property: want},
			Actual: map[string]string{property: have},
		}
	}
	group := "!ftp,api,read,rest-api,write"
	for name, c := range map[string]struct {
		rows routerplan.Snapshot
		want []events.DriftedResource
		plan []string
	}{
		"a client that hides its secret": {routerplan.Snapshot{routerplan.MenuRadius: {client}}, nil, nil},
		"a second client": {routerplan.Snapshot{routerplan.MenuRadius: {client, {".id": "*2", "comment": "Platform"}}},
			[]events.DriftedResource{{Path: "radius", Kind: "extra", Name: "Platform",
				Actual: map[string]string{"comment": "Platform"}}}, []string{"remove radius Platform"}},
		"accounting off": {routerplan.Snapshot{routerplan.MenuPPPAAA: {
			{".id": "*0", "use-radius": "yes", "accounting": "no", "interim-update": "5m"},
		}}, []events.DriftedResource{changed("ppp/aaa", "ppp/aaa", "accounting", "yes", "no")},
			[]string{"set ppp/aaa ppp/aaa"}},
		"a user without its address": {routerplan.Snapshot{routerplan.MenuUser: {
			{"name": "platform", "group": "platform-api", "address": ""}, {"name": "joe", "group": "platform-api"},
		}}, []events.DriftedResource{changed("user", "platform", "address", "10.99.0.0/16", "")}, nil},
		"a group with more rights": {routerplan.Snapshot{
			routerplan.MenuUser: {
				{"name": "platform", "group": "platform-api", "address": "10.99.0.0/16"},
			},
			routerplan.MenuUserGroup: {
				{"name": "full", "policy": "all"}, {"name": "platform-api", "policy": group + ",test"},
			},
		}, []events.DriftedResource{changed("user/group", "platform-api", "policy", "api,read,rest-api,write",
			"api,read,rest-api,test,write")}, nil},
		"a user of the operator's": {routerplan.Snapshot{
			routerplan.MenuUser:      {{"name": "platform", "group": "full", "address": ""}},
			routerplan.MenuUserGroup: {{"name": "platform-api", "policy": "read"}},
		}, nil, nil},
		"a service at another port": {routerplan.Snapshot{routerplan.MenuIPService: {
			{".id": "*1", "name": "www", "address": "10.99.0.0/16", "port": "81", "disabled": "false"},
		}}, []events.DriftedResource{changed("ip/service", "www", "port", "80", "81")}, []string{"set ip/service www"}},
	} {
		d := routerplan.CompareSetup(c.rows, setupOf(), modern)
		if diff := cmp.Diff(c.want, append([]events.DriftedResource(nil), d.Resources()...)); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
		if diff := cmp.Diff(c.plan, shown(d.Plan())); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}

func TestSetup_AnEncryptedServiceNeedsACertificateThatIsThere(t *testing.T) {
	t.Parallel()
	want := setupOf()
	want.APIPort = 443
	for certificate, told := range map[string]int{"mine": 0, "gone": 1, "": 1} {
		d := routerplan.CompareSetup(routerplan.Snapshot{
			routerplan.MenuIPService: {
				{"name": "www-ssl", "address": "10.99.0.0/16", "port": "443", "certificate": certificate},
			},
			routerplan.MenuCertificate: {{"name": "mine"}, {"name": ""}},
		}, want, modern)
		if got := d.Resources(); len(got) != told || told > 0 && (got[0].Name != "www-ssl" ||
			got[0].Expected["certificate"] != "platform-api" || got[0].Actual["certificate"] != certificate) {
			t.Errorf("the certificate %q: %+v", certificate, got)
		}
	}
}

func TestSetup_TheGroupMayRebootWhereItIsAllowed(t *testing.T) {
	t.Parallel()
	want := setupOf()
	want.AllowReboot = true
	d := routerplan.CompareSetup(routerplan.Snapshot{
		routerplan.MenuUser:      {{"name": "platform", "group": "platform-api", "address": "10.99.0.0/16"}},
		routerplan.MenuUserGroup: {{"name": "platform-api", "policy": "read,write,api"}},
	}, want, routerplan.Version{Major: 6, Minor: 49})
	if got := d.Resources(); len(got) != 1 || got[0].Expected["policy"] != "api,read,reboot,write" {
		t.Errorf("%+v", got)
	}
}

func TestMenus_AreReadAsFarAsTheyAreNeeded(t *testing.T) {
	t.Parallel()
	if got := routerplan.Narrow(routerplan.MenuRoute); got["dst-address"] != "0.0.0.0/0" {
		t.Errorf("of the routes %v is read", got)
	}
	if got := routerplan.Narrow(routerplan.MenuPool); got != nil {
		t.Errorf("of the pools %v is read", got)
	}
	if diff := cmp.Diff(append(routerplan.ServiceMenus(), routerplan.MenuDHCPLease,
		routerplan.MenuPPPActive, routerplan.MenuHotspotActive),
		routerplan.ApplyMenus()); diff != "" {
		t.Error(diff)
	}
	want := []string{
		routerplan.MenuPPPActive, routerplan.MenuPPPoESession, routerplan.MenuPPPoEServer, routerplan.MenuHotspotActive,
		routerplan.MenuHotspot,
	}
	if diff := cmp.Diff(want, routerplan.SessionMenus()); diff != "" {
		t.Error(diff)
	}
}

func TestHash_DiffersWithEveryDifference(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, row := range map[string]routerplan.Row{
		"one": {"name": "pool-svc-1", "ranges": "10.0.0.1-10.0.0.2"}, "another value": {
			"name": "pool-svc-1", "ranges": "10.0.0.1",
		},
		"another name": {"name": "pool-svc-2", "ranges": "10.0.0.1-10.0.0.2"},
	} {
		s := testService(1, events.ServicePPPoE, "ether5", 0)
		row["comment"] = routerplan.ServiceComment(s.ID)
		hash := routerplan.CompareRemoval(routerplan.Snapshot{routerplan.MenuPool: {row}}, s.ID).Hash()
		if other, twice := seen[hash]; twice || hash == "" {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[hash] = name
	}
}

// With some properties the platform's RADIUS client serves nobody, or some users only: requests from an address that
// the server does not know, or in another protocol, are not answered. They are told and repaired, by the repair and by
// the script.
func TestSetup_ARadiusClientThatServesNobodyIsToldAndRepaired(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r, v := bootstrapped(t, version, manual()), routerplan.ParseVersion(version)
		compare := func() routerplan.Diff {
			want := setupOf()
			want.TunnelAddress = "10.99.0.2"
			return routerplan.CompareSetup(read(t, r, setupMenus()), want, v)
		}
		script, err := routerplan.Bootstrap(bootstrapConfig())
		if err != nil {
			t.Fatal(err)
		}
		client := read(t, r, []string{routerplan.MenuRadius})[routerplan.MenuRadius][0]
		set := func(property, value string) {
			t.Helper()
			if _, err := r.Do("radius", "set", router.Item{".id": client[".id"], property: value}); err != nil {
				t.Fatal(err)
			}
		}
		for property, value := range map[string]string{
			"src-address": "192.168.88.1", "protocol": "radsec", "accounting-backup": "yes", "called-id": "hotspot1",
			"domain": "example.net", "realm": "example.net",
		} {
			set(property, value)
			d := compare()
			if told := d.Resources(); len(told) != 1 || len(told[0].Expected) != 1 || told[0].Actual[property] == "" {
				t.Errorf("%s: %s=%s is told as %+v", version, property, value, told)
			}
			write(t, r, d.Plan())
			if d := compare(); !d.InSync() {
				t.Errorf("%s: %s after the repair: %+v", version, property, d.Resources())
			}
			set(property, value)
			if out, faults := r.Paste(script); len(faults) > 0 {
				t.Fatalf("%s: %v: %s", version, faults, out)
			}
			if d := compare(); !d.InSync() {
				t.Errorf("%s: %s after the script: %+v", version, property, d.Resources())
			}
		}
		set("src-address", "10.99.0.2")
		if d := compare(); !d.InSync() {
			t.Errorf("%s: the router's own address in the tunnel: %+v", version, d.Resources())
		}
	}
}

// A release that does not know a property of the client shows none, which is as good as its default.
func TestSetup_ARadiusClientWithoutAPropertyIsAsWithItsDefault(t *testing.T) {
	t.Parallel()
	client := routerplan.Row{
		".id": "*1", "service": "ppp,hotspot", "address": "10.99.0.1", "authentication-port": "1812",
		"accounting-port": "1813", "timeout": "3s", "comment": "Platform", "secret": "*****",
	}
	for property, values := range map[string]map[string]bool{
		"src-address":       {"": true, "0.0.0.0": true, "::": true, "10.99.0.2": true, "10.99.0.3": false},
		"protocol":          {"": true, "udp": true, "radsec": false},
		"accounting-backup": {"": true, "no": true, "false": true, "true": false},
	} {
		for value, fine := range values {
			row := maps.Clone(client)
			row[property] = value
			want := setupOf()
			want.TunnelAddress = "10.99.0.2"
			s := routerplan.Snapshot{routerplan.MenuRadius: {row}}
			if d := routerplan.CompareSetup(s, want, modern); d.InSync() != fine {
				t.Errorf("%s=%q: %+v", property, value, d.Resources())
			}
		}
	}
}

// Requests of the platform come through the tunnel, in the main routing table.
func TestSetup_IncomingRequestsInAnotherRoutingTableAreTold(t *testing.T) {
	t.Parallel()
	for vrf, fine := range map[string]bool{"": true, "main": true, "customers": false} {
		row := routerplan.Row{".id": "*0", "accept": "true", "port": "3799", "vrf": vrf}
		s := routerplan.Snapshot{routerplan.MenuRadiusIncoming: {row}}
		d := routerplan.CompareSetup(s, setupOf(), modern)
		if d.InSync() != fine || !fine && d.Plan()[0].Values["vrf"] != "main" {
			t.Errorf("vrf=%q: %+v", vrf, d.Resources())
		}
	}
}
