package archtest

import "testing"

func TestWords_CommentsThatSayNothingAreFound(t *testing.T) {
	t.Parallel()
	for body, bad := range map[string]bool{
		"// Number is the number.\ntype Number int":                                       true,
		"// Number is a legal number, without gaps in its series.\ntype Number int":       false,
		"// names gives the names.\nfunc names() []string { return nil }":                 true,
		"// names are in the router's order.\nfunc names() []string { return nil }":       false,
		"// count counts rows.\nfunc count(rows []int) int { return 0 }":                  true,
		"// limit is 300 a minute.\nconst limit = 300":                                    false,
		"// open tells whether it is open, until the cool-down.\nvar open bool":           true,
		"// open reports whether calls are refused.\nvar open bool":                       false,
		"// left is what the customer has after all\n// invoices are paid.\nvar left int": true,
		"// lost is nobody's receipt, in suspense.\nvar lost int":                         true,
		"// The limits.\nconst (\n\t// Max is the max.\n\tMax = 1\n\tmin = 2\n)":          true,
	} {
		s, err := parse("httpapi/x.go", []byte("package x\n\n"+body+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if found := append(checkTics(s), checkEcho(s)...); (len(found) > 0) != bad {
			t.Errorf("%q: %v", body, found)
		}
	}
}
