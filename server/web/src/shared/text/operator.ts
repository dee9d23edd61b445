/** Texts of the operators' side of the console. */

export const operator = {
  nav: { home: "Overview" },
};
