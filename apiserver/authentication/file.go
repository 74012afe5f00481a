package authentication

import (
	"crypto/subtle"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// File holds static credentials: lines of secret,user,uid and, optionally,
// "group1,group2".
type File struct{ entries []entry }

type entry struct {
	secret string
	user   authenticationv1.UserInfo
}

// ReadFile reads such a file.
func ReadFile(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := csv.NewReader(f)
	lines.FieldsPerRecord = -1
	lines.Comment = '#'
	var out File
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return &out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(fields) < 3 || fields[0] == "" || fields[1] == "" {
			line, _ := lines.FieldPos(0)
			return nil, fmt.Errorf(`%s: line %d: want secret,user,uid and, optionally, "group1,group2"`, path, line)
		}
		e := entry{secret: fields[0], user: authenticationv1.UserInfo{Username: fields[1], UID: fields[2]}}
		if len(fields) > 3 && fields[3] != "" {
			e.user.Groups = strings.Split(fields[3], ",")
		}
		out.entries = append(out.entries, e)
	}
}

// find compares all entries in a time that does not depend on what they hold.
func (f *File) find(secret string) (user authenticationv1.UserInfo, ok bool) {
	if f == nil {
		return user, false
	}
	for _, e := range f.entries {
		if subtle.ConstantTimeCompare([]byte(e.secret), []byte(secret)) == 1 {
			user, ok = e.user, true
		}
	}
	return user, ok
}

// basic believes a name with its password.
func (a *Authenticator) basic(r *http.Request) (authenticationv1.UserInfo, error) {
	name, password, ok := r.BasicAuth()
	if !ok || a.cfg.PasswordFile == nil {
		return authenticationv1.UserInfo{}, ErrUnauthorized
	}
	for _, e := range a.cfg.PasswordFile.entries {
		if e.user.Username == name && subtle.ConstantTimeCompare([]byte(e.secret), []byte(password)) == 1 {
			return authenticated(e.user), nil
		}
	}
	return authenticationv1.UserInfo{}, ErrUnauthorized
}
