package subscriberscases

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// homePlan is sold as "Home 10".
var homePlan = id.Derive[id.Plan]("test", "home")

// readAll reads the rows of a file as of 1 June 2026 in Nairobi.
func readAll(t *testing.T, source, file string) (rows []importRow, faults []string) {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	table, err := sheet.Open([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	layout, wrong := layoutOf(table.Header, source)
	if len(wrong) > 0 {
		return nil, wrong
	}
	r := rowReader{
		layout: layout, currency: money.KES, zone: zone, now: time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC),
		plans: map[string]subscribersviews.PlanRow{
			"home 10": {ID: homePlan, Terms: events.PlanTerms{Period: calendar.Month}},
			"daily":   {ID: homePlan, Terms: events.PlanTerms{Period: calendar.Day}},
		},
	}
	for {
		cells, row, err := table.Next()
		if err != nil {
			return rows, faults
		}
		read, wrong := r.read(cells, row)
		if len(wrong) > 0 {
			faults = append(faults, wrong...)
			continue
		}
		rows = append(rows, read)
	}
}

func TestImport_ReadsTheColumnsOfOtherSystems(t *testing.T) {
	t.Parallel()
	amina := importRow{
		Row: 2, FirstName: "Amina", LastName: "Otieno", Phone: "0711000001", Plan: homePlan, Username: "amina",
		Password: "s3cret", PaidUntil: time.Date(2026, 6, 20, 20, 59, 0, 0, time.UTC),
	}
	for source, c := range map[string]struct {
		file string
		want func(r importRow) importRow
	}{
		"phpnuxbill": {
			"id,username,fullname,phonenumber,email,balance,pppoe_username,pppoe_password,pppoe_ip,service_type," +
				"namebp,expiration,time,status\n" +
				"7,c7,Amina Otieno,0711000001,,150.00,amina,s3cret,10.0.0.7,PPPoE,Home 10,2026-06-20,23:59:00,on\n",
			func(r importRow) importRow {
				r.Aliases, r.Balance, r.StaticIP, r.Tags = []string{"c7"}, -150_00, "10.0.0.7", []string{"PPPoE"}
				return r
			},
		},
		"daloradius": {
			"id;username;attribute;op;value;firstname;lastname;mobilephone;workphone;email;planName;nextbill\n" +
				"1;amina;Cleartext-Password;:=;s3cret;Amina;Otieno;;0711000001;a@mail.test;Home 10;2026-06-21\n",
			func(r importRow) importRow {
				r.Email, r.PaidUntil = "a@mail.test", time.Date(2026, 6, 20, 21, 0, 0, 0, time.UTC)
				return r
			},
		},
		"radiusdesk": {
			"id\tusername\tpassword\tname\tsurname\tphone\tprofile\trealm\tto_date\tstatic_ip\tactive\n" +
				"3\tamina\ts3cret\tAmina\tOtieno\t0711000001\tHome 10\ttown\t2026-06-20 23:59:00\tNULL\t1\n",
			func(r importRow) importRow {
				r.Tags = []string{"town"}
				return r
			},
		},
	} {
		rows, faults := readAll(t, source, c.file)
		if diff := cmp.Diff([]importRow{c.want(amina)}, rows); diff != "" || len(faults) > 0 {
			t.Errorf("%s: %v (-want +got)\n%s", source, faults, diff)
		}
	}
}

func TestImport_FaultsNameColumnAndCause(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"firstName,phone,paiduntill\n":                                "paiduntill is no column of an import",
		"firstName,Phone,PHONE\n":                                     "PHONE is there twice",
		"lastName,phone\n":                                            "firstName is missing in the header",
		"firstName,phone\nA,0711000001,x\n":                           " has more cells than the header",
		"firstName,phone,username\nA,0711000001,amina\n":              "planCode is required for a service",
		"firstName,phone,planCode,billingDay\nA,0711000001,daily,5\n": "billingDay must be empty",
		"firstName,phone,paidUntil\nA,0711000001,1999-01-01\n":        "paidUntil must be in the last 20",
	} {
		_, faults := readAll(t, "", file)
		if len(faults) == 0 || !strings.HasPrefix(faults[0], want) {
			t.Errorf("%q: %q, want %q", file, faults, want)
		}
	}
	for text, want := range map[string]string{
		"2026-06-20": "2026-06-19T21:00:00Z", "2026-06-20 10:30": "2026-06-20T07:30:00Z",
		"2026-06-20T10:30:00Z": "2026-06-20T10:30:00Z", "2026-06-20T10:30:00+03:00": "2026-06-20T07:30:00Z",
	} {
		rows, faults := readAll(t, "", "firstName,phone,planCode,paidUntil\nA,0711000001,Home 10,"+text+"\n")
		if len(rows) != 1 || rows[0].PaidUntil.Format(time.RFC3339) != want {
			t.Errorf("%s is read as %v %v", text, rows, faults)
		}
	}
}
