package subscriberscases

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Plans of the tests: homePlan is sold as "Home 10".
var (
	homePlan  = id.Derive[id.Plan]("test", "home")
	dailyPlan = id.Derive[id.Plan]("test", "daily")
)

// sold makes one that is not archived.
func sold(of id.Plan, code, name string, period calendar.Period) subscribersviews.PlanRow {
	return subscribersviews.PlanRow{ID: of, Code: code, Terms: events.PlanTerms{Name: name, Period: period}}
}

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
		plans: soldOf([]subscribersviews.PlanRow{
			sold(homePlan, "h10", "Home 10", calendar.Month), sold(dailyPlan, "daily", "Home", calendar.Day),
			sold(dailyPlan, "Home", "All Day", calendar.Day), sold(dailyPlan, "two", "ALLDAY", calendar.Day),
			{ID: dailyPlan, Code: "old", Archived: true, Terms: events.PlanTerms{Name: "Old"}},
		}),
	}
	found, err := surveyed(t.Context(), ImportInput{Body: []byte(file), Source: source}, layout, zone)
	if err != nil {
		t.Fatal(err)
	}
	_ = found.dates.Decide() // what it leaves open is the fault of a row
	r.dates, r.logins, r.source = found.dates, found.logins, source
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
				r.State, r.StateWord = StateActive, "on"
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
				r.Tags, r.State, r.StateWord = []string{"town"}, StateActive, "1"
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
		"firstName,Phone,PHONE\n":                                     "Phone is there more than once, in",
		"lastName,phone\n":                                            "firstName is missing in the header",
		"firstName,phone\nA,0711000001,x\n":                           " has more cells than the header",
		"firstName,phone,username\nA,0711000001,amina\n":              "planCode is required for a service",
		"firstName,phone,planCode,billingDay\nA,0711000001,daily,5\n": "billingDay must be empty",
		"firstName,phone,paidUntil\nA,0711000001,1999-01-01\n":        "paidUntil must be in the last 20",
		"firstName,phone,planCode\nA,0711000001,old\n":                "planCode is no plan that is sold here",
		"firstName,phone,planCode\nA,0711000001,all day\n":            "planCode is the name of several plans",
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

// TestImport_AColumnThatMeansNothingMayBeThereTwice, as the id of each of two joined tables; not one that is read.
func TestImport_AColumnThatMeansNothingMayBeThereTwice(t *testing.T) {
	t.Parallel()
	rows, faults := readAll(t, "phpnuxbill",
		"id,fullname,phonenumber,notes,id,Notes,ID\n1,Amina Otieno,0711000001,a,9,b,7\n")
	want := []importRow{{Row: 2, FirstName: "Amina", LastName: "Otieno", Phone: "0711000001"}}
	if diff := cmp.Diff(want, rows); diff != "" || len(faults) > 0 {
		t.Errorf("%v (-want +got)\n%s", faults, diff)
	}
	const meant = ": leave only the one that is meant"
	for _, c := range []struct {
		source, header string
		want           []string
	}{
		{"phpnuxbill", "id,id,fullname,phonenumber,phone_number", []string{
			"phonenumber is there more than once, in the columns D and E" + meant,
		}},
		{"phpnuxbill", "fullname,phonenumber,username,email,USERNAME,user name", []string{
			"username is there more than once, in the columns C, E and F" + meant,
		}},
		{"", "firstName,phone,email" + strings.Repeat(",", 24) + "e-mail", []string{
			"email is there more than once, in the columns C and AA" + meant,
		}},
		{"", "firstName,phone,notes,notes,,", []string{"notes is no column of an import"}}, // it may be a misspelt one
	} {
		_, faults := layoutOf(strings.Split(c.header, ","), c.source)
		if diff := cmp.Diff(c.want, []string(faults)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.header, diff)
		}
	}
}

// TestImport_PlansAreFoundByCodeOrName: the code of a plan comes before the name of another one.
func TestImport_PlansAreFoundByCodeOrName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]id.Plan{
		"h10": homePlan, "H10": homePlan, "Home 10": homePlan, " home10": homePlan, "HOME\u00a010": homePlan,
		"home": dailyPlan, "two": dailyPlan,
	} {
		rows, faults := readAll(t, "", "firstName,phone,planCode\nA,0711000001,"+text+"\n")
		if len(rows) != 1 || rows[0].Plan != want {
			t.Errorf("%q is %v %v", text, rows, faults)
		}
	}
}

// TestImport_FaultsNameTheColumnOfTheFile, and of several the one that counts in the row.
func TestImport_FaultsNameTheColumnOfTheFile(t *testing.T) {
	t.Parallel()
	const nux, nuxRow = "fullname,phonenumber,namebp,balance,expiration,time", "A B,1,x,-,y,z"
	for _, c := range []struct {
		source, header, row, field, want string
	}{
		{"", "First Name,PHONE,Plan_Code", "A,1,x", colPlan, "Plan_Code"},
		{"", "firstName,phone", "A,1", colEmail, ""},
		{"", "firstName,phone", "A,1", "", ""},
		{"phpnuxbill", nux, nuxRow, colPlan, "namebp"},
		{"phpnuxbill", nux, nuxRow, colLastName, "fullname"},
		{"phpnuxbill", nux, nuxRow, colBalance, "balance"},
		{"phpnuxbill", nux, nuxRow, colPaidUntil, "expiration"},
		{"phpnuxbill", "fullname,phonenumber,username,pppoe_username", "A,1,c7,amina", colUsername, "pppoe_username"},
		{"phpnuxbill", "fullname,phonenumber,username,pppoe_username", "A,1,c7,", colUsername, "username"},
		{"daloradius", "firstname,mobilephone,workphone", "A,NULL,2", colPhone, "workphone"},
		{"daloradius", "firstname,mobilephone,workphone", "A", colPhone, "mobilephone"},
		{"", "firstName,phone," + strings.Repeat("é", 99) + "email", "A,1,x", colEmail, strings.Repeat("é", 40)},
	} {
		layout, faults := layoutOf(strings.Split(c.header, ","), c.source)
		if got := layout.header(strings.Split(c.row, ","), c.field); got != c.want || len(faults) > 0 {
			t.Errorf("%s of %q %q is %q %v, want %q", c.field, c.header, c.row, got, faults, c.want)
		}
	}
}

// TestImport_ATableOfAnotherSourceIsKnownByItsHeader, unless it has the columns of the chosen one.
func TestImport_ATableOfAnotherSourceIsKnownByItsHeader(t *testing.T) {
	t.Parallel()
	const (
		own    = "firstName,lastName,phone,planCode,openingBalance"
		nux    = "id,username,fullname,phonenumber,email,balance,namebp,expiration,time"
		radius = "id,username,value,firstname,lastname,mobilephone,email,planName,nextbill"
		desk   = "id,username,password,name,surname,phone,profile,realm,to_date"
		both   = "firstname,lastname,phone,email,username,password" // ours, and daloRADIUS' too
	)
	for _, c := range []struct{ chosen, header, want string }{
		{"", own, ""}, {"", nux, "phpnuxbill"}, {"", radius, "daloradius"}, {"", desk, "radiusdesk"}, {"", both, ""},
		{"phpnuxbill", own, OwnColumns}, {"phpnuxbill", nux, ""}, {"phpnuxbill", radius, "daloradius"},
		{"phpnuxbill", desk, "radiusdesk"}, {"phpnuxbill", "firstName,phone", OwnColumns},
		{"daloradius", own, OwnColumns}, {"daloradius", nux, "phpnuxbill"}, {"daloradius", both, ""},
		{"radiusdesk", radius, "daloradius"}, {"radiusdesk", desk, ""},
		{"", "firstName,phone,paiduntill", ""}, {"", "name,phone,plan", ""}, {"", "name,number", ""}, {"", "", ""},
		{"", "fullname,phonenumber", "phpnuxbill"}, {"daloradius", "name,number", ""},
	} {
		if got := meantSource(strings.Split(c.header, ","), c.chosen); got != c.want {
			t.Errorf("%q chosen for %q: %q, want %q", c.chosen, c.header, got, c.want)
		}
	}
	for _, source := range append(slices.Clone(commands.ImportSources), OwnColumns) {
		if got := meantFault(source); !strings.HasPrefix(got, "source does not fit: the header ") ||
			source != OwnColumns && (sourceNames[source] == "" || !strings.Contains(got, sourceNames[source])) {
			t.Errorf("%s: %s", source, got)
		}
	}
}
