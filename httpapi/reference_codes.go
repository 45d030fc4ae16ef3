package httpapi

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/docs"
)

// failureCode is one row of docs/errors.md.
type failureCode struct {
	Status  int
	Code    string
	Message string
}

// codeRow matches a row of the table in docs/errors.md.
var codeRow = regexp.MustCompile("(?m)^\\| ([0-9]{3}) \\| `([a-z0-9_]+)` \\| (.*) \\|$")

// failureCodes lists all codes, sorted by status and code as the page has them.
var failureCodes = readCodes(docs.Errors)

// readCodes reads the rows of docs/errors.md; a bar within a text is written \| there.
func readCodes(page string) []failureCode {
	var out []failureCode
	for _, m := range codeRow.FindAllStringSubmatch(page, -1) {
		status, _ := strconv.Atoi(m[1]) // three digits
		out = append(out, failureCode{status, m[2], strings.ReplaceAll(m[3], `\|`, "|")})
	}
	return out
}

// anyRoute are the codes that every route can answer: the database or the program has a fault.
var anyRoute = []string{"internal", "database_unavailable", "timed_out"}

// codes lists the failure codes that a route can answer, sorted: those that the server itself gives on the way to the
// handler and out of it, and those that the route names. A handler may have more; all are in docs/errors.md.
func (r *Route) codes() []string {
	set := map[string]bool{}
	add := func(when bool, codes ...string) {
		for _, code := range codes {
			set[code] = set[code] || when
		}
	}
	signed := r.Access.Role() != ""
	tenant := r.Hosts&OnOrganization != 0 && r.Hosts&onForeign == 0
	add(true, anyRoute...)
	add(true, r.Codes...)
	add(tenant, "not_found", "organization_suspended", "access_unknown")
	add(signed, "unauthenticated", "another_person", "access_unknown", "rate_limited", "unknown_parameter")
	add(signed && r.Access != AccessSubscriber, "role_required")
	add(r.takesKeys(), "scope_required", "api_key_expired", "api_key_revoked", "api_key_stopped",
		"api_key_address_refused")
	add(signed && r.PeopleOnly, "api_key_not_allowed")
	add(signed && !r.AllowedWhilePasswordChange, "password_change_required")
	add(signed && !r.AllowedWhilePasswordChange && r.Access != AccessSubscriber, "second_factor_required")
	add(r.LoginLimit || r.RefreshLimit, "rate_limited")
	add(r.Row != nil, "bad_cursor", "invalid_input")
	add(len(r.Query) > 0, "invalid_input")
	add(r.mutates(), "bad_if_match", "body_too_large", "body_unreadable")
	add(r.BodyLimit > defaultBodyLimit, "upload_running", "uploads_full", "upload_too_slow")
	add(r.mutates() && !r.machine(), "bad_origin")
	add(r.takesBody, "unsupported_media_type")
	add(r.Request != nil, "malformed_body", "missing_field", "invalid_input")
	add(r.mutates() && !r.IgnoresIdempotency,
		"bad_idempotency_key", "idempotency_key_reused", "idempotency_key_running")
	maps.DeleteFunc(set, func(_ string, can bool) bool { return !can })
	return slices.Sorted(maps.Keys(set))
}

// listed gives the rows of docs/errors.md of some codes, in the order of that page.
func listed(codes []string) []failureCode {
	var out []failureCode
	for _, f := range failureCodes {
		if slices.Contains(codes, f.Code) {
			out = append(out, f)
		}
	}
	return out
}

// StatusText is a status with its words, such as "404 Not Found".
func (f failureCode) StatusText() string {
	return strconv.Itoa(f.Status) + " " + http.StatusText(f.Status)
}
