// Package dashboards is lockscope dashboards: it writes the files of the module of that name.
package dashboards
