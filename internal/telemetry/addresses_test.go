package telemetry_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// had lists the sessions that had an address so long after noon.
func (k *kit) had(t *testing.T, address string, after time.Duration) []string {
	t.Helper()
	return k.list(t, telemetry.SessionFilter{IP: netip.MustParseAddr(address), At: noon.Add(after)})
}

// TestAddresses_AreFoundAtTheInstantAtWhichASessionHadThem: each kind changes during a session.
func TestAddresses_AreFoundAtTheInstantAtWhichASessionHadThem(t *testing.T) {
	t.Parallel()
	k := open(t)
	tell := func(after time.Duration, addresses [2]string, prefixes [2]string) {
		r := k.at(telemetry.Interim, after, uint64(after), 1)
		r.IP, r.IPv6 = netip.MustParseAddr(addresses[0]), netip.MustParseAddr(addresses[1])
		r.Link, r.Network = netip.MustParsePrefix(prefixes[0]), netip.MustParsePrefix(prefixes[1])
		k.commit(t, r)
	}
	start := k.at(telemetry.Start, 0, 0, 0)
	start.IP = netip.IPv4Unspecified()
	k.commit(t, start)
	tell(5*time.Minute, [2]string{"100.64.0.9", "2001:db8::9"}, [2]string{"2001:db8:0:1::/64", "2001:db8:100::/56"})
	tell(10*time.Minute, [2]string{"0.0.0.0", "::"}, [2]string{"::/64", "::/0"})
	tell(30*time.Minute, [2]string{"100.64.0.10", "2001:db8::a"}, [2]string{"2001:db8:0:2::/64", "2001:db8:200::/56"})
	k.commit(t, k.at(telemetry.Stop, time.Hour, uint64(time.Hour), 1))
	for first, second := range map[string]string{
		"100.64.0.9": "100.64.0.10", "2001:db8::9": "2001:db8::a", "2001:db8:0:1::5": "2001:db8:0:2::5",
		"2001:db8:100:5::1": "2001:db8:200:5::1",
	} {
		for after, who := range map[time.Duration]string{
			-time.Minute: "", time.Minute: first, 20 * time.Minute: first, 30*time.Minute - time.Second: first,
			30 * time.Minute: second, time.Hour: second, time.Hour + time.Minute: "",
		} {
			for _, address := range []string{first, second} {
				if got := k.had(t, address, after); (len(got) == 1) != (address == who) {
					t.Errorf("%s after %s: %v", address, after, got)
				}
			}
		}
	}
}

// TestAddresses_OfReportsInAnyOrderAreTheSame: also one that is told again after another.
func TestAddresses_OfReportsInAnyOrderAreTheSame(t *testing.T) {
	t.Parallel()
	var reports []telemetry.Report
	told := []string{"10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.1"}
	k := open(t)
	for i, address := range told {
		r := k.at(telemetry.Interim, time.Duration(i)*5*time.Minute, uint64(i), 1)
		if r.IP = netip.MustParseAddr(address); i == 0 {
			r.Kind = telemetry.Start
		}
		reports = append(reports, r)
	}
	for n, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 3, 1}, {0, 2, 1, 4, 3}} {
		k := open(t)
		for _, i := range order {
			r := reports[i]
			r.Org, r.Device = k.org, k.device
			k.commit(t, r)
		}
		for i, address := range told {
			if got := k.had(t, address, time.Duration(i)*5*time.Minute+time.Minute); len(got) != 1 {
				t.Errorf("order %d: nobody had %s after report %d", n, address, i)
			}
		}
		if got := k.had(t, "10.0.0.1", 12*time.Minute); len(got) != 0 {
			t.Errorf("order %d: %v had an address of another time", n, got)
		}
	}
}

// TestAddresses_ThatTheSignInGaveAreFoundWithoutAReportOfThem: until a report tells others.
func TestAddresses_ThatTheSignInGaveAreFoundWithoutAReportOfThem(t *testing.T) {
	t.Parallel()
	k := open(t)
	directory := k.directory()
	directory.Resolve = func(telemetry.Report) telemetry.Given {
		return telemetry.Given{
			Subscriber: k.subscriber, Subscription: k.subscription, IP: netip.MustParseAddr("100.64.0.9"),
			Network: netip.MustParsePrefix("2001:db8:100::/56"),
		}
	}
	other := k.at(telemetry.Interim, 10*time.Minute, 1, 1)
	other.IP = netip.MustParseAddr("100.64.0.77")
	for _, r := range []telemetry.Report{k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, 5*time.Minute, 1, 1)} {
		if _, err := k.Commit(t.Context(), directory, []telemetry.Report{r}); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range []string{"100.64.0.9", "2001:db8:100:ff::1"} {
		if got := k.had(t, address, time.Minute); len(got) != 1 {
			t.Errorf("%s is not found", address)
		}
	}
	if _, err := k.Commit(t.Context(), directory, []telemetry.Report{other}); err != nil {
		t.Fatal(err)
	}
	if got := append(k.had(t, "100.64.0.9", time.Minute), k.had(t, "100.64.0.77", time.Minute)...); len(got) != 1 {
		t.Errorf("after another one was reported: %v", got)
	}
}

// TestAddresses_GoWithTheirSessionAndAreOfTheirOrganizationAlone: by retention and by forgetting.
func TestAddresses_GoWithTheirSessionAndAreOfTheirOrganizationAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := k.at(telemetry.Stop, time.Hour, 1, 1)
	r.IP = netip.MustParseAddr("100.64.0.9")
	k.commit(t, r)
	stored := func() (n int) {
		sql := "select count(*) from " + k.schema() + ".addresses"
		if err := k.db.Owner.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	mine := k.org
	k.org = id.New[id.Organization]()
	if got := k.had(t, "100.64.0.9", time.Minute); len(got) != 0 || stored() != 1 {
		t.Errorf("another organization finds %v of %d", got, stored())
	}
	k.org = mine
	if err := k.Forget(t.Context(), k.org, k.subscriber); err != nil || stored() != 0 {
		t.Errorf("%d addresses of a forgotten person, %v", stored(), err)
	}
	r.At = r.At.Add(time.Hour)
	k.commit(t, r)
	keep := telemetry.Retention{Sessions: 72 * time.Hour, Addresses: 24 * time.Hour}
	if err := k.Purge(t.Context(), noon.Add(48*time.Hour), keep); err != nil || stored() != 0 {
		t.Errorf("%d addresses after their time, %v", stored(), err)
	}
	if got := k.list(t, telemetry.SessionFilter{}); !slices.Equal(got, []string{"81000001"}) {
		t.Errorf("sessions %v", got)
	}
}

// TestReports_ZerosReplaceNothing: of any attribute.
func TestReports_ZerosReplaceNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	full := k.at(telemetry.Start, 0, 0, 0)
	full.IP, full.IPv6 = netip.MustParseAddr("100.64.0.9"), netip.MustParseAddr("2001:db8::9")
	full.Link, full.Network = netip.MustParsePrefix("2001:db8:0:1::/64"), netip.MustParsePrefix("2001:db8:100::/56")
	full.Called, full.Port, full.Service, full.NASPort = "home", "ether2", "pppoe", 7
	full.Source = netip.MustParseAddr("10.99.0.2")
	empty := k.at(telemetry.Interim, 5*time.Minute, 0, 0)
	empty.IP, empty.IPv6 = netip.IPv4Unspecified(), netip.IPv6Unspecified()
	empty.Link, empty.Network = netip.MustParsePrefix("::/64"), netip.MustParsePrefix("::/0")
	empty.MAC, empty.Calling = "00:00:00:00:00:00", "00:00:00:00:00:00"
	later := k.at(telemetry.Interim, 10*time.Minute, 5, 5)
	later.IP, later.MAC, later.Calling, later.User = netip.MustParseAddr("255.255.255.254"), "", "", ""
	k.commit(t, full)
	k.commit(t, empty)
	k.commit(t, later)
	list, err := k.List(t.Context(), k.org, telemetry.SessionFilter{}, telemetry.SessionKey{}, 9)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	s := list[0]
	if s.IP == nil || *s.IP != full.IP || s.IPv6 == nil || *s.IPv6 != full.IPv6 || *s.FramedPrefix != full.Link ||
		*s.DelegatedPrefix != full.Network || s.Called != "home" || s.Port != "ether2" || s.Service != "pppoe" ||
		s.NASPort != 7 || s.MAC != full.MAC || s.Calling != full.Calling || *s.Source != full.Source ||
		s.Username != "amina" || s.BytesDown != 5 {
		t.Errorf("%+v", s)
	}
}
