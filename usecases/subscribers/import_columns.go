package subscriberscases

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
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
	colDay       = "billingDay"
)

// ImportColumns are all columns, in the order in which they are told.
var ImportColumns = []string{
	colFirstName, colLastName, colPhone, colEmail, colPlan, colAliases, colBalance, colPaidUntil, colUsername, colTags,
	colPassword, colMACs, colStaticIP, colDay,
}

// Columns of other systems that are no column of ours by themselves: two of them make one, or one makes two.
const (
	colFullName = "fullName" // the first word is the first name
	colPaidDay  = "paidDay"  // with paidTime
	colPaidTime = "paidTime"
	colCredit   = "credit" // what the customer has paid ahead
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
		colStaticIP: {"pppoe_ip"}, colTags: {"service_type"},
	},
	"daloradius": {
		colFirstName: {"firstname"}, colLastName: {"lastname"},
		colPhone: {"mobilephone", "phone", "workphone", "homephone"}, colEmail: {"email"}, colPlan: {"planName"},
		colPaidUntil: {"nextbill", "Expiration"}, colUsername: {"username"}, colPassword: {"value", "password"},
		colStaticIP: {"Framed-IP-Address"}, colMACs: {"Calling-Station-Id"}, colTags: {"groupname"},
	},
	"radiusdesk": {
		colFirstName: {"name"}, colLastName: {"surname"}, colPhone: {"phone"}, colEmail: {"email"},
		colPlan: {"profile"}, colPaidUntil: {"to_date"}, colUsername: {"username"}, colPassword: {"password"},
		colStaticIP: {"static_ip"}, colTags: {"realm"},
	},
}

// ImportColumn says which column of a file is taken for which of ours; Field is "" for one that is ignored.
type ImportColumn struct {
	Column string
	Field  string
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

// layoutOf reads a header. An unknown column of our own form is a fault: it may be a misspelt one, and what it says
// about money would be lost. Columns of another system that mean nothing here are ignored.
func layoutOf(header []string, source string) (importLayout, failure.Faults) {
	var faults failure.Faults
	l := importLayout{at: map[string][]int{}, width: len(header), columns: make([]ImportColumn, len(header))}
	positions := map[string]int{}
	for i, name := range header {
		l.columns[i].Column = name
		key := columnKey(name)
		if _, twice := positions[key]; twice && key != "" {
			faults.Add(shortName(name), "is there twice")
			continue
		}
		positions[key] = i
	}
	for field, names := range wantedColumns(source) {
		for _, name := range names {
			if i, ok := positions[columnKey(name)]; ok {
				l.at[field] = append(l.at[field], i)
				if l.columns[i].Field == "" || field < l.columns[i].Field {
					l.columns[i].Field = field
				}
			}
		}
	}
	for _, c := range l.columns {
		if c.Field == "" && source == "" && strings.TrimSpace(c.Column) != "" {
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

// shortName is the name of a column for a fault, without what could break a line.
func shortName(name string) string {
	const most = 40
	runes := []rune(strings.Join(strings.Fields(name), "_"))
	return string(runes[:min(len(runes), most)])
}

// cell is the text of one of our columns in a row, "" when the row has none.
func (l importLayout) cell(cells []string, field string) string {
	for _, i := range l.at[field] {
		if i < len(cells) {
			if text := strings.TrimSpace(sheet.Meant(cells[i])); text != "" && !nothing(text) {
				return text
			}
		}
	}
	return ""
}

// nothing reports whether a text stands for no value in dumps of databases.
func nothing(text string) bool {
	switch text {
	case "NULL", "null", `\N`, "0000-00-00", "0000-00-00 00:00:00":
		return true
	}
	return false
}

// list splits a cell into its values.
func list(cell string) []string {
	var out []string
	for _, part := range strings.Split(cell, "|") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
