package routerplan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
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
