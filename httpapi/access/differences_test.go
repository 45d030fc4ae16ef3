package accessapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// desk is the auditor's part of the API, with one difference at one of two routers of Acme.
type desk struct {
	*apitest.Kit
	org           id.Organization
	seen, unseen  id.Device
	difference    id.Difference
	fault         error // of a repair
	outcome       string
	asked         []commands.Meta
	looked        []id.Device // zero = all
	seenAt, since time.Time
	missing       time.Time
}

// newDesk starts a server.
func newDesk(t *testing.T) *desk {
	t.Helper()
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.FixedZone("EAT", 3*3600))
	d := &desk{
		seen: id.New[id.Device](), unseen: id.New[id.Device](), difference: id.New[id.Difference](), outcome: "done",
		seenAt: at, since: at.Add(time.Minute),
	}
	d.Kit = apitest.New(t, nil, accessapi.Differences{
		Open: d.open, Devices: d.devices, Looks: d.looks, Repair: d.repair, Audit: d.audit,
		Names: func(_ context.Context, org id.Organization, list []id.Device) (map[id.Device]string, error) {
			return map[id.Device]string{list[0]: "tower of " + org.String()[:2]}, nil
		},
		Missing: func(context.Context) (time.Time, error) { return d.missing, nil },
	}.Routes())
	d.org = d.Orgs["acme"].ID
	return d
}

// open implements accessapi.Differences.
func (d *desk) open(
	_ context.Context, org id.Organization, f accessviews.DifferenceFilter, _ accessviews.DifferenceKey, _ int,
) ([]accessviews.DifferenceRow, error) {
	if org != d.org || !f.Device.IsZero() && f.Device != d.unseen || !f.Subscriber.IsZero() ||
		f.Kind != "" && f.Kind != "local_bypass" {
		return nil, nil
	}
	return []accessviews.DifferenceRow{{
		ID: d.difference, DeviceID: d.unseen, Kind: events.LocalBypass, Expected: "RADIUS", Actual: "a secret",
		Since: d.seenAt,
	}}, nil
}

// devices implements accessapi.Differences.
func (d *desk) devices(
	_ context.Context, org id.Organization, _ networkviews.DeviceKey, _ int,
) ([]networkviews.DeviceRow, error) {
	if org != d.org {
		return nil, nil
	}
	named := events.DeviceDetails{Name: "tower"}
	return []networkviews.DeviceRow{{ID: d.seen, Details: named}, {ID: d.unseen, Details: named}}, nil
}

// looks implements accessapi.Differences.
func (d *desk) looks(context.Context, id.Organization) (map[id.Device]telemetry.Look, error) {
	return map[id.Device]telemetry.Look{
		d.unseen: {
			DeviceID: d.unseen, TriedAt: d.since.Add(4 * time.Minute), LookedAt: &d.seenAt, UnseenSince: &d.since,
			Why: "router_unreachable",
		},
	}, nil
}

// repair implements accessapi.Differences.
func (d *desk) repair(
	_ context.Context, difference id.Difference, meta commands.Meta,
) (outcome, message string, err error) {
	d.asked = append(d.asked, meta)
	if difference != d.difference {
		return "", "", commands.ErrNoDifference()
	}
	return d.outcome, "It was done.", d.fault
}

// audit implements accessapi.Differences.
func (d *desk) audit(_ context.Context, org id.Organization, device id.Device) ([]id.Device, time.Time, error) {
	if org != d.org || !device.IsZero() && device != d.seen {
		return nil, time.Time{}, commands.ErrNoDevice()
	}
	d.looked = append(d.looked, device)
	last := time.Date(2026, 3, 2, 12, 0, 0, 0, time.FixedZone("EAT", 3*3600))
	if device.IsZero() {
		return []id.Device{d.seen, d.unseen}, last, nil
	}
	return []id.Device{device}, last, nil
}

// wants sends a request and checks the status and a part of the body.
func (d *desk) wants(t *testing.T, call, as, body string, status int, part string) {
	t.Helper()
	method, path, _ := strings.Cut(call, " ")
	a := d.Do(t, apitest.Request{Method: method, Path: path, As: as, Body: body})
	if a.Status != status || !strings.Contains(string(a.Body), part) {
		t.Errorf("%s as %q %s: %d %s, want %d %s", call, as, body, a.Status, a.Body, status, part)
	}
}

func TestDifferences_AreListedWithTheirKindRouterAndTheTimeOfTheLook(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	row := `{"id":"` + d.difference.String() + `","kind":"local_bypass","subscriberId":null,` +
		`"subscriber":null,"subscriptionId":null,` +
		`"deviceId":"` + d.unseen.String() + `","deviceName":"tower of ` + d.org.String()[:2] +
		`","since":"2026-03-02T09:00:00Z","expected":"RADIUS","actual":"a secret",` +
		`"lookedAt":"2026-03-02T09:00:00Z","unseenSince":"2026-03-02T09:01:00Z","reportsMissingSince":null}`
	const list = "GET /access-differences"
	d.wants(t, list, apitest.Support, "", 200, row)
	d.wants(t, list+"?kind=local_bypass&deviceId="+d.unseen.String(), apitest.Support, "", 200, row)
	d.wants(t, list+"?kind=wrong_rate", apitest.Support, "", 200, `"data":[]`)
	d.wants(t, list+"?deviceId="+d.seen.String(), apitest.Support, "", 200, `"data":[]`)
	d.wants(t, list+"?subscriberId="+id.New[id.Subscriber]().String(), apitest.Support, "", 200, `"data":[]`)
	for _, none := range []string{"x", "00000000-0000-0000-0000-000000000000"} { // which would be no filter at all
		d.wants(t, list+"?subscriberId="+none, apitest.Support, "", 422, "invalid_input")
	}
	d.wants(t, list+"?kind=everything", apitest.Support, "", 422, "invalid_input")
	d.wants(t, list+"?deviceId=x", apitest.Support, "", 422, "invalid_input")
	d.wants(t, list, "", "", 401, "")
	d.wants(t, list, apitest.Subscriber, "", 403, "")

	const looks = "GET /access-audits"
	d.wants(t, looks, apitest.Support, "", 200, `{"deviceId":"`+d.seen.String()+
		`","deviceName":"tower","triedAt":null,"lookedAt":null,"unseenSince":null,`+
		`"reportsMissingSince":null,"why":null}`)
	d.wants(t, looks, apitest.Support, "", 200, `{"deviceId":"`+d.unseen.String()+
		`","deviceName":"tower","triedAt":"2026-03-02T09:05:00Z",`+
		`"lookedAt":"2026-03-02T09:00:00Z","unseenSince":"2026-03-02T09:01:00Z",`+
		`"reportsMissingSince":null,"why":"router_unreachable"}`)
	d.missing = d.seenAt
	d.wants(t, looks, apitest.Support, "", 200, `"reportsMissingSince":"2026-03-02T09:00:00Z"`)
	d.wants(t, list, apitest.Support, "", 200, `"reportsMissingSince":"2026-03-02T09:00:00Z"`)
	d.wants(t, looks, "", "", 401, "")
	d.wants(t, looks, apitest.Subscriber, "", 403, "")
}

func TestDifferences_ARepairIsForAdministratorsAndTellsWhatCameOfIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	repair := "POST /access-differences/" + d.difference.String() + "/repair"
	d.wants(t, repair, apitest.Admin, "", 200, `{"outcome":"done","message":"It was done."}`)
	if len(d.asked) != 1 || d.asked[0].OrgID != d.org || d.asked[0].IP == "" || d.asked[0].Actor.ID == "" {
		t.Errorf("asked %+v", d.asked)
	}
	d.outcome = "waiting"
	d.wants(t, repair, apitest.Admin, "", 200, `"outcome":"waiting"`)
	d.fault = commands.ErrRepairByHand("Look at the cable.")
	d.wants(t, repair, apitest.Admin, "", 409, "Look at the cable.")
	d.fault = failure.NewUnavailable("device_unreachable", "The router does not answer.", 0, nil)
	d.wants(t, repair, apitest.Admin, "", 503, "device_unreachable")
	asked := len(d.asked)
	d.wants(t, repair, apitest.Support, "", 403, "")
	d.wants(t, repair, "", "", 401, "")
	d.wants(t, "POST /access-differences/x/repair", apitest.Admin, "", 404, "difference_not_found")
	if len(d.asked) != asked {
		t.Errorf("%d repairs by people who may not", len(d.asked)-asked)
	}
	d.wants(t, "POST /access-differences/"+id.New[id.Difference]().String()+"/repair", apitest.Admin, "", 404,
		"difference_not_found")
}

func TestDifferences_ALookCanBeAskedForAndTellsAtWhat(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const audit = "POST /access-audits"
	d.wants(t, audit, apitest.Admin, `{}`, 202,
		`{"routers":2,"deviceIds":["`+d.seen.String()+`","`+d.unseen.String()+
			`"],"lastBeginsAt":"2026-03-02T09:00:00Z"}`)
	d.wants(t, audit, apitest.Admin, `{"deviceId":"`+d.seen.String()+`"}`, 202, `{"routers":1,"deviceIds":["`)
	d.wants(t, audit, apitest.Admin, `{"deviceId":"`+id.New[id.Device]().String()+`"}`, 404, "device_not_found")
	d.wants(t, audit, apitest.Admin, `{"deviceId":"x"}`, 422, "invalid_input")
	d.wants(t, audit, apitest.Admin, `{"device":"x"}`, 422, "invalid_input")
	d.wants(t, audit, apitest.Support, `{}`, 403, "")
	d.wants(t, audit, "", `{}`, 401, "")
	if len(d.looked) != 2 || !d.looked[0].IsZero() || d.looked[1] != d.seen {
		t.Errorf("looked at %v", d.looked)
	}
	spec := d.Do(t, apitest.Request{Path: "/openapi.json", As: apitest.Admin})
	for _, path := range []string{`"/access-differences"`, `"/access-differences/{id}/repair"`, `"/access-audits"`} {
		if !strings.Contains(string(spec.Body), path) {
			t.Errorf("openapi.json lacks %s: %d", path, spec.Status)
		}
	}
}
