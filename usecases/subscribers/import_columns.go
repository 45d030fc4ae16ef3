package subscriberscases

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/sheet"
)

// The columns of an import (docs/rules/subscribers-import.md#columns).
const (
	colFirstName = "firstName"
	colLastName  = "lastName"
	colPhone     = "phone"
	colEmail     = "email"
	colPlan      = "planCode"
	colAliases   = "accountAliases"
	colBalance   = "openingBalance"
	colPaidUntil = "paidUntil"
	colUsername  = "username"
	colTags      = "tags"
	colPassword  = "password"
	colMACs      = "macAddresses"
	colStaticIP  = "staticIp"
	colPrefix    = "staticIpv6Prefix"
	colRoutes    = "routes"
	colDay       = "billingDay"
	colStatus    = "status"
)

// ImportColumns are all columns, in the order in which they are told.
var ImportColumns = []string{
	colFirstName, colLastName, colPhone, colEmail, colPlan, colAliases, colBalance, colPaidUntil, colUsername, colTags,
	colPassword, colMACs, colStaticIP, colPrefix, colRoutes, colDay, colStatus,
}

// Columns of other systems that are no column of ours by themselves: two of them make one, or one makes two.
const (
	colFullName = "fullName" // the first word is the first name
	colPaidDay  = "paidDay"  // with paidTime
	colPaidTime = "paidTime"
	colCredit   = "credit" // what the customer has paid ahead
	// Of rows that have an attribute of RADIUS each: its name and its value.
	colAttribute = "attribute"
	colValue     = "value"
)

// sourceColumns say which column of another system is which of ours; names are compared by their letters and digits
// alone. Where several are one column, the first that has a value counts. They follow the tables that these systems
// document: PHPNuxBill's tbl_customers with tbl_user_recharges, daloRADIUS' userinfo and userbillinfo with radcheck,
// and RADIUSdesk's permanent_users.
var sourceColumns = map[string]map[string][]string{
	"phpnuxbill": {
		colFullName: {"fullname"}, colPhone: {"phonenumber"}, colEmail: {"email"}, colPlan: {"namebp", "plan_name"},
		colAliases: {"username"}, colCredit: {"balance"}, colPaidDay: {"expiration"}, colPaidTime: {"time"},
		colUsername: {"pppoe_username", "username"}, colPassword: {"pppoe_password", "password"},
		colStaticIP: {"pppoe_ip"}, colTags: {"service_type"}, colStatus: {"status"},
	},
	"daloradius": {
		colFirstName: {"firstname"}, colLastName: {"lastname"},
		colPhone: {"mobilephone", "phone", "workphone", "homephone"}, colEmail: {"email"}, colPlan: {"planName"},
		colPaidUntil: {"nextbill", "Expiration"}, colUsername: {"username"},
		colPassword:  {"Cleartext-Password", "User-Password", "password"},
		colAttribute: {"attribute"}, colValue: {"value"}, colStaticIP: {"Framed-IP-Address"},
		colMACs: {"Calling-Station-Id"}, colTags: {"groupname"},
	},
	"radiusdesk": {
		colFirstName: {"name"}, colLastName: {"surname"}, colPhone: {"phone"}, colEmail: {"email"},
		colPlan: {"profile"}, colPaidUntil: {"to_date"}, colUsername: {"username"}, colPassword: {"password"},
		colStaticIP: {"static_ip"}, colTags: {"realm"}, colStatus: {"active"},
	},
}

// ImportColumn says which column of a file is taken for which of ours; Field is "" for one that is ignored.
type ImportColumn struct {
	Column string
	Field  string
	Letter string // as a spreadsheet names it: "A", "AA"
	Values int    // rows in which it has a value
}

// importLayout finds the cells of a row.
type importLayout struct {
	columns []ImportColumn
	at      map[string][]int // positions of our column, in the order in which they count
	width   int
}

// columnKey is a column's name without case, spaces and signs.
func columnKey(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// layoutOf is layoutFor without answers.
func layoutOf(header []string, source string) (importLayout, failure.Faults) {
	return layoutFor(header, source, nil)
}

// layoutFor reads a header. answered has our columns for those of the file that a person has chosen, by their letters;
// leftOut leaves one out. An unknown column of our own form is a fault: it may be a misspelt one, and what it says
// about money would be lost. Columns of another system that mean nothing here are ignored, also where they are there
// twice, as the id of each of two joined tables; one of ours that is there twice is a fault.
func layoutFor(
	header []string, source string, answered map[string]string,
) (importLayout, failure.Faults) {
	var faults failure.Faults
	l := importLayout{at: map[string][]int{}, width: len(header), columns: make([]ImportColumn, len(header))}
	places := map[string][]int{}
	for i, name := range header {
		l.columns[i].Column, l.columns[i].Letter = name, letterOf(i)
		if l.answer(i, answered[letterOf(i)]) {
			continue
		}
		key := columnKey(name)
		places[key] = append(places[key], i)
	}
	for field, names := range wantedColumns(source) {
		for _, name := range names {
			for n, i := range places[columnKey(name)] {
				if n == 0 {
					l.at[field] = append(l.at[field], i)
				}
				if l.columns[i].Field == "" || field < l.columns[i].Field {
					l.columns[i].Field = field
				}
			}
		}
	}
	for i, c := range l.columns {
		if answered[c.Letter] != "" {
			continue
		}
		same := places[columnKey(c.Column)]
		switch first := same[0] == i; {
		case c.Field != "" && first && len(same) > 1:
			faults.Add(shortName(c.Column),
				"is there more than once, in the columns %s: leave only the one that is meant", lettersOf(same))
		case c.Field == "" && source == "" && strings.TrimSpace(c.Column) != "" && (first || columnKey(c.Column) == ""):
			faults.Add(shortName(c.Column), "is no column of an import")
		}
	}
	for _, needed := range [][]string{{colFirstName, colFullName}, {colPhone}} {
		if !slices.ContainsFunc(needed, func(f string) bool { return len(l.at[f]) > 0 }) {
			faults.Add(needed[0], "is missing in the header")
		}
	}
	return l, faults
}

// answer takes what a person has chosen for the column at a position; false when nothing was.
func (l importLayout) answer(i int, field string) bool {
	if field != "" && field != leftOut {
		l.at[field] = append(l.at[field], i)
		l.columns[i].Field = field
	}
	return field != ""
}

// letterOf names the column at a position as a spreadsheet does: A to Z, then AA and so on.
func letterOf(i int) (name string) {
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// lettersOf names the columns at some positions.
func lettersOf(positions []int) string {
	names := make([]string, len(positions))
	for n, i := range positions {
		names[n] = letterOf(i)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// OwnColumns stands for our own columns where a source is told.
const OwnColumns = "own"

// sourceNames are the systems as people call them.
var sourceNames = map[string]string{
	"phpnuxbill": "PHPNuxBill", "daloradius": "daloRADIUS", "radiusdesk": "RADIUSdesk",
}

// ownTitles are titles that only the tables of a system have, exactly as it writes them. Titles such as balance, status
// or full name are in the tables of many.
var ownTitles = map[string][]string{
	"phpnuxbill": {"fullname", "phonenumber", "namebp", "pppoe_username", "pppoe_password", "pppoe_ip", "service_type"},
	"daloradius": {
		"mobilephone", "workphone", "homephone", "planname", "nextbill", "attribute", "groupname", "creationby",
	},
	"radiusdesk": {"surname", "profile", "realm", "to_date", "from_date", "static_ip", "profile_id", "realm_id"},
}

// isTableOf reports whether a header has at least two of the titles that only one system's tables have.
func isTableOf(header []string, source string) bool {
	found := map[string]bool{}
	for _, name := range header {
		if title := strings.ToLower(strings.TrimSpace(name)); slices.Contains(ownTitles[source], title) {
			found[title] = true
		}
	}
	return len(found) >= 2
}

// meantSource is the source whose columns a header has when these are not those of the chosen one; "" when they are, or
// when no other has them either. Our own are meant where each column is one of ours, and they are more than the chosen
// source has. Another system's must be two more, and some of them titles that only it writes: many tables have names
// and balances, and the columns of another system would drop what it says about money.
func meantSource(header []string, chosen string) string {
	known, fits := fitOf(header, chosen)
	if n, ours := fitOf(header, ""); ours && n > known {
		return OwnColumns
	}
	if fits {
		return ""
	}
	meant, most := "", known+1
	for _, source := range commands.ImportSources {
		if n, fits := fitOf(header, source); fits && n > most && isTableOf(header, source) {
			meant, most = source, n
		}
	}
	return meant
}

// fitOf counts the columns of a header that a source has; ok is that nothing is wrong with it.
func fitOf(header []string, source string) (known int, ok bool) {
	l, faults := layoutOf(header, source)
	for _, c := range l.columns {
		if c.Field != "" {
			known++
		}
	}
	return known, len(faults) == 0
}

// meantFault says which source should be chosen.
func meantFault(meant string) string {
	if meant == OwnColumns {
		return "source does not fit: the header has our own columns; choose these"
	}
	return "source does not fit: the header looks like that of a table of " + sourceNames[meant] + "; choose that"
}

// wantedColumns are the names of columns for each of ours.
func wantedColumns(source string) map[string][]string {
	if source != "" {
		return sourceColumns[source]
	}
	own := make(map[string][]string, len(ImportColumns))
	for _, c := range ImportColumns {
		own[c] = []string{c}
	}
	return own
}

// shortName is the name of a column for a fault, as one word.
func shortName(name string) string { return shortened(strings.Fields(name), "_") }

// shortened joins the words of a column's name, up to 40 characters.
func shortened(words []string, by string) string {
	const most = 40
	runes := []rune(strings.Join(words, by))
	return string(runes[:min(len(runes), most)])
}

// cell is the text of one of our columns in a row, "" when the row has none.
func (l importLayout) cell(cells []string, field string) string {
	for _, i := range l.at[field] {
		if text := cellAt(cells, i); text != "" {
			return text
		}
	}
	return ""
}

// cellAt is the text at a position of a row, "" when nothing stands there.
func cellAt(cells []string, i int) string {
	if i >= len(cells) {
		return ""
	}
	text := inputtext.Text(sheet.Meant(cells[i]))
	if nothing(text) {
		return ""
	}
	return text
}

// secretAt is the text at a position of a row as it is, "" when nothing but spaces stands there: each space of a
// password counts.
func secretAt(cells []string, i int) string {
	if cellAt(cells, i) == "" {
		return ""
	}
	return sheet.Meant(cells[i])
}

// secret is the text of one of our columns that has a secret.
func (l importLayout) secret(cells []string, field string) string {
	for _, i := range l.at[field] {
		if text := secretAt(cells, i); text != "" {
			return text
		}
	}
	return ""
}

// madeOf says of which columns of other systems one of ours is made.
var madeOf = map[string]string{
	colFirstName: colFullName, colLastName: colFullName, colBalance: colCredit, colPaidUntil: colPaidDay,
	colPassword: colValue,
}

// header is the file's own name of one of our columns, "" when it has none. Where several columns of the file are that
// one, it is the one that counts in the row.
func (l importLayout) header(cells []string, field string) string {
	places := slices.Concat(l.at[field], l.at[madeOf[field]])
	if len(places) == 0 {
		return ""
	}
	counts := slices.IndexFunc(places, func(i int) bool { return cellAt(cells, i) != "" })
	return shortened(strings.Fields(l.columns[places[max(counts, 0)]].Column), " ")
}

// nothing reports whether a text stands for no value in dumps of databases.
func nothing(text string) bool {
	switch text {
	case "NULL", "null", `\N`, "0000-00-00", "0000-00-00 00:00:00":
		return true
	}
	return false
}

// list splits a cell into its values, each once in the form that normal makes. It reads one more than may be at most,
// which the command refuses, and leaves the rest: a cell can have thousands.
func list(cell string, normal func(string) string, most int) []string {
	var out []string
	seen := map[string]bool{}
	for part := range strings.SplitSeq(cell, "|") {
		part = strings.TrimSpace(part)
		form := normal(part)
		if part == "" || seen[form] {
			continue
		}
		seen[form] = true
		if out = append(out, part); len(out) > most {
			break
		}
	}
	return out
}
