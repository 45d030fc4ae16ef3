package telemetry_test

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// address is that of amina in stories about addresses.
var address = netip.MustParseAddr("100.64.0.9")

// list reads all sessions of a filter in pages of two, and gives their keys.
func (k *kit) list(t *testing.T, f telemetry.SessionFilter) []string {
	t.Helper()
	var keys []string
	for after := (telemetry.SessionKey{}); ; {
		page, err := k.List(t.Context(), k.org, f, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page {
			keys, after = append(keys, s.SessionKey), s.Key()
		}
		if len(page) < 2 {
			return keys
		}
	}
}

func TestList_ShowsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	k := open(t)
	online, had := k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Stop, time.Hour, 5, 5)
	online.Session, online.User, online.At = "online", "brian", noon.Add(2*time.Hour)
	had.Session, had.IP = "had", address
	foreign := had
	foreign.Org, foreign.Device = id.New[id.Organization](), id.New[id.Device]()
	other := k.at(telemetry.Stop, time.Minute, 1, 1)
	other.Session, other.Device, other.At = "other", id.New[id.Device](), noon.Add(3*time.Hour)
	k.commit(t, online, had, foreign, other)
	yes, no := true, false
	at := func(after time.Duration) telemetry.SessionFilter {
		return telemetry.SessionFilter{IP: address, At: noon.Add(after)}
	}
	for _, c := range []struct {
		filter telemetry.SessionFilter
		want   []string
	}{
		{telemetry.SessionFilter{}, []string{"other", "online", "had"}},
		{telemetry.SessionFilter{Online: &yes}, []string{"online"}},
		{telemetry.SessionFilter{Online: &no}, []string{"other", "had"}},
		{telemetry.SessionFilter{Username: "brian"}, []string{"online"}},
		{telemetry.SessionFilter{Device: k.device}, []string{"online", "had"}},
		{telemetry.SessionFilter{Subscriber: k.subscriber}, []string{"other", "online", "had"}},
		{telemetry.SessionFilter{Subscriber: id.New[id.Subscriber]()}, nil},
		{at(-time.Second), nil}, {at(0), []string{"had"}}, {at(time.Hour), []string{"had"}},
		{at(time.Hour + time.Second), nil},
	} {
		if got := k.list(t, c.filter); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.filter, got, c.want)
		}
	}
}

func TestList_AnAddressOfIPv6IsFoundByItsPrefix(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := k.at(telemetry.Stop, time.Hour, 5, 5)
	r.Link, r.Network = netip.MustParsePrefix("2001:db8:0:1::/64"), netip.MustParsePrefix("2001:db8:100::/56")
	r.NASPort = 15728640
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), r)
	for text, found := range map[string]int{
		"2001:db8:0:1::9": 1, "2001:db8:100:ff::1": 1, "2001:db8:0:2::9": 0, "2001:db8:101::": 0, "100.64.0.9": 0,
	} {
		got := k.list(t, telemetry.SessionFilter{IP: netip.MustParseAddr(text), At: noon.Add(time.Minute)})
		if len(got) != found {
			t.Errorf("%s: %v", text, got)
		}
	}
	list, err := k.List(t.Context(), k.org, telemetry.SessionFilter{}, telemetry.SessionKey{}, 2)
	if err != nil || len(list) != 1 || list[0].NASPort != 15728640 || *list[0].DelegatedPrefix != r.Network {
		t.Errorf("%+v %v", list, err)
	}
}

func TestList_EachQuestionHasAnIndexUnderThePolicy(t *testing.T) {
	t.Parallel()
	k := open(t)
	if _, err := k.db.Owner.Exec(t.Context(), strings.ReplaceAll(`insert into {schema}.sessions select
		gen_random_uuid(), case when i % 2 = 0 then $1::uuid else $2::uuid end,
		gen_random_uuid(), 'k' || i, 'u' || i % 5000,
		'c', '', '', '', '', '100.64.0.0'::inet + i % 5000, gen_random_uuid(), gen_random_uuid(), '', 0, 0,
		$3::timestamptz + i * interval '1 second', $3, case when i % 100 = 0 then null
		else $3::timestamptz end, 1, '', 0, 0, 0, '', false, 0, ('2001:db8:' || to_hex(i % 5000) || '::/64')::cidr,
		('2001:db9:' || to_hex(i % 5000) || '::/56')::cidr from generate_series(1, 100000) i`, "{schema}", k.schema()),
		k.org.UUID(), id.New[id.Organization]().UUID(), noon); err != nil {
		t.Fatal(err)
	}
	if _, err := k.db.Owner.Exec(t.Context(), strings.ReplaceAll(`insert into {schema}.addresses
		select id, org_id, 1, ip::cidr from {schema}.sessions union all
		select id, org_id, 4, delegated_prefix from {schema}.sessions`, "{schema}", k.schema())); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sessions", "addresses"} {
		if _, err := k.db.Owner.Exec(t.Context(), "analyze "+k.schema()+"."+table); err != nil {
			t.Fatal(err)
		}
	}
	had := func(nets string) string {
		return `x.id in (select a.session_id from ` + k.schema() + `.addresses a where a.org_id = $1
			and a.address = any('{` + nets + `}'::text[]::cidr[]) and (a.from_at is null or a.from_at <= '2026-03-03')
			and (a.until_at is null or a.until_at > '2026-03-03')) and x.started_at <= '2026-03-03'`
	}
	for where, index := range map[string]string{
		"true":               "sessions_org_id_started_at_id_idx",
		"x.ended_at is null": "sessions_org_id_started_at_id_idx1",
		"x.username = 'u17'": "sessions_org_id_username",
		"x.device_id = '" + k.device.String() + "'":     "sessions_org_id_device_id",
		"x.subscriber_id = '" + k.device.String() + "'": "sessions_org_id_subscriber_id",
		had("2001:db9:9::/64,2001:db9:9::/56"):          "addresses_org_id_address",
		had("100.64.0.9/32"):                            "addresses_org_id_address",
	} {
		var plan []string
		if err := k.db.TenantRead(t.Context(), k.org.UUID(), func(r *postgres.Reads) {
			postgres.Collect(r, &plan, pgx.RowTo[string], "explain select * from "+k.schema()+
				".sessions x where x.org_id = $1 and "+where+" order by x.started_at desc, x.id desc limit 26",
				k.org.UUID())
		}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); !strings.Contains(text, index) || strings.Contains(text, "Seq Scan") {
			t.Errorf("%s: not by %s:\n%s", where, index, text)
		}
	}
}

func TestPurge_AddressesHaveARetentionOfTheirOwn(t *testing.T) {
	t.Parallel()
	address := netip.MustParseAddr("100.64.0.9")
	who := telemetry.SessionFilter{IP: address, At: noon.Add(time.Minute)}
	for name, c := range map[string]struct {
		keep          telemetry.Retention
		listed, found int
	}{
		"longer":  {telemetry.Retention{Sessions: 24 * time.Hour, Addresses: 72 * time.Hour}, 0, 1},
		"shorter": {telemetry.Retention{Sessions: 72 * time.Hour, Addresses: 24 * time.Hour}, 1, 0},
		"forever": {telemetry.Retention{Sessions: 24 * time.Hour}, 0, 1},
	} {
		k := open(t)
		stop := k.at(telemetry.Stop, time.Hour, 5, 5)
		stop.IP = address
		k.commit(t, stop)
		for range 2 {
			if err := k.Purge(t.Context(), noon.Add(48*time.Hour), c.keep); err != nil {
				t.Fatal(err)
			}
		}
		k.commit(t, k.at(telemetry.Interim, time.Hour-time.Minute, 4, 4)) // very late
		if listed, found := len(k.list(t, telemetry.SessionFilter{})), len(k.list(t, who)); listed != c.listed ||
			found != c.found {
			t.Errorf("%s: listed %d, found %d", name, listed, found)
		}
		if err := k.Purge(t.Context(), noon.Add(96*time.Hour), c.keep); err != nil {
			t.Fatal(err)
		}
		if left := len(k.rows(t.Context(), t, k.device)); (left > 0) != (name == "forever") {
			t.Errorf("%s: %d rows left", name, left)
		}
		if got := k.usage(t, telemetry.Day); len(got) != 1 || got[0].BytesDown != 5 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A report that waited in a spool, or that comes from a router where the person is still online.
func TestForget_WhatComesLaterIsDropped(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	if err := k.Forget(t.Context(), k.org, k.subscriber); err != nil {
		t.Fatal(err)
	}
	other := k.at(telemetry.Interim, time.Minute, 7, 7)
	other.User = "brian"
	directory := k.directory()
	directory.Resolve = func(r telemetry.Report) telemetry.Given {
		given := k.resolve(r)
		given.Forgotten = r.User == "amina"
		return given
	}
	if _, err := k.Commit(t.Context(), directory, []telemetry.Report{
		k.at(telemetry.Interim, time.Minute, 5, 5), other, k.at(telemetry.Stop, time.Hour, 5, 5),
	}); err != nil {
		t.Fatal(err)
	}
	if got := k.only(t); got.User != "brian" {
		t.Errorf("%+v", got)
	}
	if got := k.usage(t, telemetry.Day); len(got) != 1 || got[0].BytesDown != 7 {
		t.Errorf("%+v", got)
	}
}

func TestPurge_DeletesWhatIsOverAndForgetWhatIsOnes(t *testing.T) {
	t.Parallel()
	k := open(t)
	later := k.at(telemetry.Stop, time.Minute, 1, 1)
	later.Session, later.At = "later", noon.Add(48*time.Hour)
	open := k.at(telemetry.Start, 0, 0, 0)
	open.Session, open.User = "open", "brian"
	k.commit(t, k.at(telemetry.Stop, time.Hour, 5, 5), later, open)
	keep := telemetry.Retention{Sessions: 24 * time.Hour, Addresses: 24 * time.Hour, Days: 24 * time.Hour}
	if err := k.Purge(t.Context(), noon.Add(49*time.Hour), keep); err != nil {
		t.Fatal(err)
	}
	if got := k.list(t, telemetry.SessionFilter{}); !slices.Equal(got, []string{"later", "open"}) {
		t.Error(got)
	}
	if got := k.usage(t, telemetry.Day); len(got) != 1 || got[0].Starts != march(4) {
		t.Error(got)
	}
	if got := k.usage(t, telemetry.Month); len(got) != 1 || got[0].BytesDown != 6 {
		t.Error(got)
	}
	if err := k.Forget(t.Context(), k.org, k.subscriber); err != nil {
		t.Fatal(err)
	}
	if got := k.list(t, telemetry.SessionFilter{}); len(got)+len(k.usage(t, telemetry.Month)) != 0 {
		t.Error(got)
	}
}

// TestOpenSQL_GivesTheOpenSessionsOfOneOrganization below the policy, with the rights of a list of customers.
func TestOpenSQL_GivesTheOpenSessionsOfOneOrganization(t *testing.T) {
	t.Parallel()
	k := open(t)
	ended := k.at(telemetry.Stop, time.Hour, 1, 1)
	foreign := k.at(telemetry.Start, 0, 0, 0)
	foreign.Org, foreign.Device = id.New[id.Organization](), id.New[id.Device]()
	online := k.at(telemetry.Start, 0, 0, 0)
	online.Session, online.At = "online", noon.Add(2*time.Hour)
	k.commit(t, ended, foreign, online)
	for org, want := range map[id.Organization]int{k.org: 1, foreign.Org: 0, id.New[id.Organization](): 0} {
		var found [][2]uuid.UUID
		err := k.db.TenantRead(t.Context(), org.UUID(), func(r *postgres.Reads) {
			postgres.Collect(r, &found, func(row pgx.CollectableRow) (ids [2]uuid.UUID, err error) {
				return ids, row.Scan(&ids[0], &ids[1])
			}, telemetry.OpenSQL(k.db.Namespace), pgx.NamedArgs{"org": org.UUID()})
		})
		if err != nil || len(found) != want || want == 1 && found[0] != [2]uuid.UUID{
			k.subscriber.UUID(), k.subscription.UUID(),
		} {
			t.Errorf("%v, %v", found, err)
		}
	}
}

// TestRoutersOf_HasOneEntryForEachChangeOfTheRouter also where the customer comes back to one.
func TestRoutersOf_HasOneEntryForEachChangeOfTheRouter(t *testing.T) {
	t.Parallel()
	k := open(t)
	other := id.New[id.Device]()
	var reports []telemetry.Report
	for i, device := range []id.Device{k.device, k.device, other, other, k.device} {
		r := k.at(telemetry.Stop, time.Minute, 1, 1)
		r.Session, r.Device, r.At = strconv.Itoa(i), device, noon.Add(time.Duration(i)*time.Hour)
		reports = append(reports, r)
	}
	k.commit(t, reports...)
	begins := func(hours int) time.Time { return noon.Add(time.Duration(hours)*time.Hour - time.Minute) }
	for before, want := range map[time.Time][]telemetry.Begun{
		noon.Add(9 * time.Hour): {{k.device, begins(0)}, {other, begins(2)}, {k.device, begins(4)}},
		begins(2):               {{k.device, begins(0)}},
		begins(0):               nil,
	} {
		got, err := k.RoutersOf(t.Context(), k.org, k.subscriber, before)
		for i := range got {
			got[i].At = got[i].At.UTC()
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("before %s: %v, %v; want %v", before, got, err, want)
		}
	}
	got, err := k.RoutersOf(t.Context(), id.New[id.Organization](), k.subscriber, noon.Add(9*time.Hour))
	if err != nil || len(got) != 0 {
		t.Errorf("another organization: %v, %v", got, err)
	}
}
