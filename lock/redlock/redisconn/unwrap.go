package redisconn

import (
	"reflect"

	"github.com/redis/go-redis/v9"
)

// Unwrap returns the client of go-redis that a type of the program's own embeds, at any depth, in an exported way. It
// returns given if that is such a client, or embeds none.
func Unwrap(given redis.UniversalClient) redis.UniversalClient {
	switch given.(type) {
	case nil, *redis.Client, *redis.ClusterClient:
		return given
	}
	v := reflect.ValueOf(given)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	for i := range fieldsOf(v) {
		if f := v.Type().Field(i); f.Anonymous && f.IsExported() {
			if inner, ok := v.Field(i).Interface().(redis.UniversalClient); ok {
				return Unwrap(inner)
			}
		}
	}
	return given
}

// UnwrapAll unwraps each client.
func UnwrapAll(given []redis.UniversalClient) []redis.UniversalClient {
	all := make([]redis.UniversalClient, len(given))
	for i, one := range given {
		all[i] = Unwrap(one)
	}
	return all
}

// fieldsOf is 0 for what is no struct, such as a nil pointer to one.
func fieldsOf(v reflect.Value) int {
	if v.Kind() != reflect.Struct {
		return 0
	}
	return v.NumField()
}
