package subscriberscases

import (
	"regexp"
	"slices"
	"strings"
)

// loginAttributes gathers the rows of one login in a table that has an attribute of RADIUS in each row, as
// daloRADIUS' radcheck has. The first row of a login is its customer's.
type loginAttributes struct {
	row      int // the first one
	password string
	hashed   bool // a password is there from which nobody can read it
	paid     string
	ip, macs string
	disabled bool
}

// clearPasswords are the attributes that have a password itself, in small letters. All others of passwords have what
// was made of one: as the password of a device it would be wrong.
var clearPasswords = []string{"cleartext-password", "user-password", "password"}

// hashForm finds what systems make of a password.
var hashForm = regexp.MustCompile(`^(\$[0-9a-zA-Z]{1,3}\$.+|\{[A-Za-z0-9-]{3,12}\}.+|[0-9A-Fa-f]{32}|[0-9A-Fa-f]{40})$`)

// take adds an attribute.
func (a *loginAttributes) take(name, value string) {
	switch name = strings.ToLower(strings.TrimSpace(name)); {
	case value == "":
	case slices.Contains(clearPasswords, name), name == "" && !hashForm.MatchString(value):
		a.password = value
	case strings.HasSuffix(name, "-password"), name == "":
		a.hashed = true
	case name == "expiration":
		a.paid = value
	case name == "framed-ip-address":
		a.ip = value
	case name == "calling-station-id":
		a.macs = strings.TrimPrefix(a.macs+"|"+value, "|")
	case name == "auth-type":
		a.disabled = a.disabled || strings.EqualFold(value, "reject")
	}
}

// attributesOf gathers an attribute of a row, under the row's login.
func (l importLayout) attributesOf(cells []string, row int, of map[string]*loginAttributes) {
	login := l.cell(cells, colUsername)
	if login == "" {
		return
	}
	a := of[login]
	if a == nil {
		a = &loginAttributes{row: row}
		of[login] = a
	}
	a.take(l.cell(cells, colAttribute), l.secret(cells, colValue))
}

// hasAttributes reports whether the rows of a table have the value of an attribute.
func (l importLayout) hasAttributes() bool {
	return len(l.at[colValue]) > 0 && len(l.at[colUsername]) > 0
}

// attached reports whether a row only says more about the login of an earlier row.
func (r rowReader) attached(cells []string, row int) bool {
	a := r.logins[r.layout.cell(cells, colUsername)]
	return a != nil && a.row != row
}

// fromAttributes completes a row by the attributes of its login.
func (r rowReader) fromAttributes(out *importRow) {
	a := r.logins[out.Username]
	if a == nil {
		return
	}
	if out.Password == "" {
		out.Password = a.password
	}
	out.Hashed = a.hashed && out.Password == ""
	if out.StaticIP == "" {
		out.StaticIP = a.ip
	}
	if len(out.MACs) == 0 {
		out.MACs = macsOf(a.macs)
	}
	if a.disabled {
		out.State, out.StateWord = StateBlocked, "disabled"
	}
}
