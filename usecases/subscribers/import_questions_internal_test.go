package subscriberscases

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// checkedFile has the result of a check, with the rows that an import would take in.
type checkedFile struct {
	CheckedImport
	rows []importRow
}

// checkFile checks a file of testdata/imports, or a text, as of 1 June 2026 in Nairobi, at an organization without
// customers.
func checkFile(t *testing.T, in ImportInput) checkedFile {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	table, err := sheet.OpenIn(in.Body, in.Answers.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	var out checkedFile
	layout, wrong := layoutFor(table.Header, in.Source, in.Answers.Columns)
	out.layout, out.Columns, out.LooksLike = layout, layout.columns, meantSource(table.Header, in.Source)
	if len(wrong) > 0 {
		out.add(1, nil, wrong)
		return out
	}
	reader := rowReader{
		layout: layout, currency: money.KES, zone: zone, now: time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC),
		plans: soldOf([]subscribersviews.PlanRow{
			sold(homePlan, "h10", "Home 10", calendar.Month), sold(dailyPlan, "daily", "Home", calendar.Day),
		}),
	}
	if err := out.survey(t.Context(), in, table, &reader); err != nil {
		t.Fatal(err)
	}
	cases := Imports{
		Key: fileKey,
		Taken: func(context.Context, id.Organization, subscribersviews.TakenValues,
		) (map[string]subscribersviews.TakenRow, error) {
			return nil, nil
		},
		ByPhones: func(context.Context, id.Organization, []string) ([]subscribersviews.PhoneRow, error) {
			return nil, nil
		},
	}
	b := blockTaker{
		out: &out.CheckedImport, reader: reader, seen: map[string]int{}, keys: cases.rowKeys(id.Organization{}),
		here: cases.hereAlready(id.Organization{}, id.Import{}, in.Body, reader),
		take: func(rows []importRow) error {
			out.rows = append(out.rows, rows...)
			return nil
		},
	}
	if err := b.all(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	out.Effects.sorted()
	return out
}

// shape reads a committed file of a shape that ISPs bring.
func shape(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile("testdata/imports/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// asked are the kinds of what is asked, with the letters of the columns.
func (c checkedFile) asked() []string {
	list := []string{}
	for _, q := range c.Questions {
		list = append(list, strings.TrimSuffix(q.Kind+" "+q.Letter+" "+q.Meaning, "  "))
	}
	return list
}

// TestImport_PHPNuxBillWithoutExpiryAsksAndBannedCustomersAreBlocked: without an expiry all
// would be unpaid and offline.
func TestImport_PHPNuxBillWithoutExpiryAsksAndBannedCustomersAreBlocked(t *testing.T) {
	t.Parallel()
	in := ImportInput{Body: shape(t, "phpnuxbill-customers"), Source: "phpnuxbill"}
	got := checkFile(t, in)
	want := ImportEffects{
		Customers: 4, Services: 4, Unpaid: 4, Usernames: 4, InCredit: 2,
		Owed: money.Of(0, money.KES), Credit: money.Major(170, money.KES),
		Plans: []ImportPlan{{"h10", "Home 10", 3}, {"daily", "Home", 1}},
		States: []ImportState{
			{"active", StateActive, 1}, {"banned", StateBlocked, 1}, {"disabled", StateBlocked, 1},
			{"inactive", StateLapsed, 1},
		},
	}
	if diff := cmp.Diff(want, got.Effects); diff != "" || got.Failed > 0 {
		t.Errorf("%v (-want +got)\n%s", got.Faults, diff)
	}
	if diff := cmp.Diff([]string{"unpaid"}, got.asked()); diff != "" || got.Questions[0].Rows != 4 {
		t.Errorf("asked (-want +got)\n%s", diff)
	}
	var blocked []string
	for _, row := range got.rows {
		if row.State == StateBlocked {
			blocked = append(blocked, row.FirstName)
		}
	}
	if diff := cmp.Diff([]string{"Brian", "Carol"}, blocked); diff != "" {
		t.Errorf("blocked (-want +got)\n%s", diff)
	}
	in.Answers.Unpaid = true
	if left := checkFile(t, in).asked(); len(left) > 0 {
		t.Errorf("answered, and still asked: %q", left)
	}
	in.Body = []byte(strings.ReplaceAll(string(in.Body), "Inactive", "Seconded"))
	if odd := checkFile(t, in); odd.Failed != 1 || odd.Faults[0].Field != colStatus {
		t.Errorf("a state that nobody knows: %+v", odd.Faults)
	}
}

// TestImport_UnusedColumnsOfMoneyAndStateAreAskedAbout, and a table of any program is not told to be PHPNuxBill's.
func TestImport_UnusedColumnsOfMoneyAndStateAreAskedAbout(t *testing.T) {
	t.Parallel()
	body := shape(t, "any-program")
	if own := checkFile(t, ImportInput{Body: body}); own.LooksLike != "" {
		t.Errorf("looks like %s", own.LooksLike)
	}
	in := ImportInput{Body: body, Source: "phpnuxbill"} // chosen all the same
	got := checkFile(t, in)
	want := []string{"column C balance", "column D plan", "column E status", "column F expiry"}
	if diff := cmp.Diff(want, got.asked()); diff != "" || got.Questions[0].Rows != 2 || got.Questions[2].Rows != 1 {
		t.Fatalf("%+v (-want +got)\n%s", got.Questions, diff)
	}
	in.Answers.Columns = map[string]string{"C": colBalance, "D": colPlan, "E": colStatus, "F": colPaidUntil}
	got = checkFile(t, in)
	if diff := cmp.Diff([]string{"date_order"}, got.asked()); diff != "" || got.Questions[0].Rows != 2 ||
		got.Failed != 3 {
		t.Fatalf("%+v %+v (-want +got)\n%s", got.Questions, got.Faults, diff)
	}
	in.Answers.DateOrder = column.DayFirst
	got = checkFile(t, in)
	if len(got.Questions) > 0 || got.Effects.Owed != money.Major(1500, money.KES) || got.Effects.Owing != 1 ||
		got.Effects.Credit != money.Major(200, money.KES) || got.Effects.PaidTime != 3 || got.Effects.Services != 3 {
		t.Errorf("answered: %+v %+v %+v", got.Questions, got.Effects, got.Faults)
	}
	for _, row := range got.rows {
		if row.PaidUntil.Month() != time.June || (row.FirstName == "Brian") != (row.State == StateBlocked) {
			t.Errorf("%s is paid until %s, state %q", row.FirstName, row.PaidUntil, row.State)
		}
	}
	in.Answers.Columns = map[string]string{"C": leftOut, "D": colPlan, "E": leftOut, "F": leftOut}
	in.Answers.Unpaid = true
	got = checkFile(t, in)
	if e := got.Effects; len(got.Questions) > 0 || e.Owing+e.InCredit+e.PaidTime > 0 {
		t.Errorf("left out: %+v %+v", got.Questions, got.Effects)
	}
}

// TestImport_RowsOfAttributesAreOneLoginAndHashesAreNoPasswords.
func TestImport_RowsOfAttributesAreOneLoginAndHashesAreNoPasswords(t *testing.T) {
	t.Parallel()
	got := checkFile(t, ImportInput{Body: shape(t, "daloradius-attributes"), Source: "daloradius"})
	if got.Rows != 3 || got.Valid != 3 || got.Effects.Attached != 4 || got.Effects.Hashed != 2 ||
		got.Effects.Passwords != 1 || got.Effects.PaidTime != 2 || len(got.Questions) > 0 {
		t.Fatalf("%+v %+v %+v", got.CheckedImport.Effects, got.Questions, got.Faults)
	}
	amina, brian, carol := got.rows[0], got.rows[1], got.rows[2]
	if amina.Password != " s3cret " || amina.StaticIP != "10.0.0.7" ||
		!amina.PaidUntil.Equal(time.Date(2027, 7, 9, 21, 0, 0, 0, time.UTC)) {
		t.Errorf("Amina: %+v", amina)
	}
	if brian.Password != "" || !brian.PaidUntil.Equal(time.Date(2027, 8, 1, 20, 59, 0, 0, time.UTC)) {
		t.Errorf("Brian: %+v", brian)
	}
	if carol.Password != "" || carol.State != StateBlocked {
		t.Errorf("Carol: %+v", carol)
	}
	bare := "username,value,firstname,mobilephone,planName\n"
	got = checkFile(t, ImportInput{Source: "daloradius", Answers: ImportAnswers{Unpaid: true}, Body: []byte(bare +
		"a,{SSHA}abcdef,A,0711000001,Home 10\nb,5f4dcc3b5aa765d61d8327deb882cf99,B,0711000002,Home 10\n" +
		"c,plain,C,0711000003,Home 10\n")})
	if got.Effects.Hashed != 2 || got.Effects.Passwords != 1 || got.rows[2].Password != "plain" {
		t.Errorf("values without attributes: %+v", got.Effects)
	}
}

// TestImport_PasswordsAreNeverTrimmed: a device has them as they are.
func TestImport_PasswordsAreNeverTrimmed(t *testing.T) {
	t.Parallel()
	const secret = "  two\u00a0spaces\u200b  "
	rows, faults := readAll(t, "", "firstName,phone,planCode,username,password\n"+
		"\u200bAmina\u00a0,\u202a0711\u2011000001\u202c,Home\u00a010, amina ,"+secret+"\nB,0711000002,Home 10,b,   \n")
	if len(faults) > 0 || rows[0].Password != secret || rows[1].Password != "" {
		t.Errorf("%+v %v", rows, faults)
	}
	if d := rows[0].details(); rows[0].FirstName != "Amina" || rows[0].Username != "amina" ||
		d.Phone.Reveal() != "+254711000001" {
		t.Errorf("%+v", rows[0])
	}
}

// TestImport_AnEncodingThatIsNoUnicodeIsAskedFor: the same bytes are names in several of them.
func TestImport_AnEncodingThatIsNoUnicodeIsAskedFor(t *testing.T) {
	t.Parallel()
	for encoding, c := range map[sheet.Encoding]struct{ bytes, want string }{
		"windows-1251": {"\xc8\xe2\xe0\xed", "Иван"}, "windows-1250": {"\xa3ukasz", "Łukasz"},
		"gbk": {"\xcd\xf5\xce\xb0", "王伟"}, "windows-1252": {"Jos\xe9", "José"},
	} {
		in := ImportInput{Body: []byte("firstName,phone\n" + c.bytes + ",0711000001\n")}
		if asked := checkFile(t, in).asked(); !slices.Equal(asked, []string{"encoding"}) {
			t.Errorf("%s: asked %q", encoding, asked)
		}
		in.Answers.Encoding = encoding
		if got := checkFile(t, in); len(got.Questions) > 0 || got.rows[0].FirstName != c.want {
			t.Errorf("%s: %q, asked %q", encoding, got.rows[0].FirstName, got.asked())
		}
	}
	plain := checkFile(t, ImportInput{Body: []byte("firstName,phone,planCode\nJosé,0711000001,Home 10\n")})
	if len(plain.Questions) > 0 || plain.Valid != 1 {
		t.Errorf("our own columns in UTF-8: %+v", plain.Questions)
	}
}

// TestParseColumnAnswers_NamesColumnsByLetters.
func TestParseColumnAnswers_NamesColumnsByLetters(t *testing.T) {
	t.Parallel()
	got, fault := ParseColumnAnswers("C:openingBalance, AA:-")
	if diff := cmp.Diff(map[string]string{"C": colBalance, "AA": leftOut}, got); diff != "" || fault != "" {
		t.Errorf("%s %s", fault, diff)
	}
	for _, bad := range []string{"c:-", "C", "C:price", "C:-,C:-", "3:-", "AAA:-", ":-"} {
		if _, fault := ParseColumnAnswers(bad); fault == "" {
			t.Errorf("%q passes", bad)
		}
	}
	a, b := ImportInput{Answers: ImportAnswers{Columns: got}}, ImportInput{}
	if slices.Equal(a.pieces(id.Organization{}, 0)[0], b.pieces(id.Organization{}, 0)[0]) {
		t.Error("other answers are the same import")
	}
	if failure.CodeOf(errQuestions()) != "import_questions_open" {
		t.Error("code")
	}
}
